//! The host names under which the relay may be called. The owner of a name can point it to any address, even after a
//! page was loaded from it. To the browser, that page and the relay then have the same origin.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{Version, header};

/// The hosts that a request may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hosts {
    /// Names and addresses that always mean this machine.
    ThisMachine,
    /// Those, and every address: only names can be redirected.
    Addresses,
}

impl Hosts {
    /// The hosts for a relay that listens on this address.
    pub(crate) fn of(address: IpAddr) -> Self {
        if address.is_loopback() { Self::ThisMachine } else { Self::Addresses }
    }

    /// Whether a request names one of these hosts, and no other.
    pub(crate) fn allow(self, request: &Request) -> bool {
        named(request).is_some_and(|mut hosts| hosts.all(|host| self.has(host)))
    }

    fn has(self, authority: &str) -> bool {
        is_this_machine(authority)
            || self == Self::Addresses && host(authority).is_some_and(|host| address(host).is_some())
    }
}

/// The hosts that a request names: in its header, and in its target, which takes precedence (RFC 9112, section 3.2.2).
/// `None` if it does not name a single host. HTTP/2 requests may have only the target (RFC 9113, section 8.3.1).
pub(crate) fn named(request: &Request) -> Option<impl Iterator<Item = &str>> {
    let target = request.uri().authority().map(Authority::as_str);
    let mut header = request.headers().get_all(header::HOST).iter();
    let header = match (header.next(), header.next()) {
        (Some(host), None) => Some(host.to_str().ok()?),
        (None, _) if request.version() == Version::HTTP_2 && target.is_some() => None,
        _ => return None,
    };
    Some(header.into_iter().chain(target))
}

/// Whether a host, with or without a port, always means this machine.
pub(crate) fn is_this_machine(authority: &str) -> bool {
    let Some(host) = host(authority) else { return false };
    // Names under localhost always resolve to this machine (RFC 6761, section 6.3).
    let is_local_name = || host.rsplit('.').next().is_some_and(|last| last.eq_ignore_ascii_case("localhost"));
    address(host).map_or_else(|| is_name(host) && is_local_name(), |address| address.is_loopback())
}

/// The host of an authority that is a host, or a host and a port.
fn host(authority: &str) -> Option<&str> {
    match authority.rsplit_once(':') {
        Some((host, port)) if !authority.ends_with(']') => {
            let is_number = port.bytes().all(|byte| byte.is_ascii_digit()) && u16::from_str(port).is_ok();
            is_number.then_some(host)
        }
        _ => Some(authority),
    }
}

fn address(host: &str) -> Option<IpAddr> {
    match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(inner) => Ipv6Addr::from_str(inner).ok().map(IpAddr::V6),
        None => Ipv4Addr::from_str(host).ok().map(IpAddr::V4),
    }
}

/// Whether a host consists of labels. A trailing dot is refused: browsers treat that as a different name.
fn is_name(host: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    host.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    const OWN: [&str; 9] = [
        "localhost",
        "localhost:8791",
        "LocalHost:1",
        "app.localhost:3000",
        "127.0.0.1",
        "127.0.0.1:65535",
        "127.8.0.1:80",
        "[::1]",
        "[::1]:8791",
    ];
    const NAMES: [&str; 6] =
        ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "notlocalhost", "relay", "a:1"];
    const MALFORMED: [&str; 22] = [
        "",
        ":",
        ":8791",
        "localhost.",
        "localhost.:8791",
        ".localhost",
        "a..localhost",
        "x@localhost",
        "x@a.localhost",
        "x:y@localhost",
        "localhost:",
        "localhost:+1",
        "localhost:65536",
        "localhost:1:2",
        "localhost/a.localhost",
        "evil.example#.localhost",
        "evil.example\\.localhost",
        "::1",
        "[::1",
        "[127.0.0.1]",
        "127.1",
        "0x7f.0.0.1",
    ];

    #[test]
    fn this_machine_is_known_by_names_that_lead_nowhere_else() {
        for host in OWN {
            assert!(is_this_machine(host), "{host}");
        }
        let addresses = ["10.0.0.1", "0.0.0.0:8791", "[::]", "[::ffff:127.0.0.1]", "[fe80::1]:1"];
        for host in NAMES.into_iter().chain(MALFORMED).chain(addresses) {
            assert!(!is_this_machine(host), "{host}");
        }
    }

    #[test]
    fn where_others_can_call_they_do_so_by_an_address() {
        assert_eq!(Hosts::of([127, 0, 0, 1].into()), Hosts::ThisMachine);
        assert_eq!(Hosts::of(Ipv6Addr::LOCALHOST.into()), Hosts::ThisMachine);
        for address in ["0.0.0.0", "192.168.0.7", "::"] {
            assert_eq!(Hosts::of(address.parse().expect("an address")), Hosts::Addresses);
        }
        for host in OWN.into_iter().chain(["192.168.0.7:8791", "[fe80::1]:1", "10.0.0.1"]) {
            assert!(Hosts::Addresses.has(host), "{host}");
        }
        for host in NAMES.into_iter().chain(MALFORMED) {
            assert!(!Hosts::Addresses.has(host), "{host}");
        }
    }

    #[test]
    fn a_request_names_its_host_once() {
        let allows = |target: &str, hosts: &[&str]| {
            let request = Request::builder().uri(target);
            let request = hosts.iter().fold(request, |request, host| request.header("host", *host));
            Hosts::ThisMachine.allow(&request.body(Body::empty()).expect("a request"))
        };
        assert!(allows("/", &["localhost"]));
        assert!(allows("http://127.0.0.1:8791/", &["localhost"]));
        assert!(!allows("/", &[]));
        assert!(!allows("/", &["localhost", "localhost"]));
        assert!(!allows("/", &["localhost", "evil.example"]));
        assert!(!allows("http://evil.example/", &["localhost"]));
        assert!(!allows("http://localhost/", &["evil.example"]));
    }

    #[test]
    fn with_http_2_the_target_may_name_it_alone() {
        let allows = |target: &str, hosts: &[&str]| {
            let request = Request::builder().version(Version::HTTP_2).uri(target);
            let request = hosts.iter().fold(request, |request, host| request.header("host", *host));
            Hosts::ThisMachine.allow(&request.body(Body::empty()).expect("a request"))
        };
        assert!(allows("https://localhost:8791/", &[]));
        assert!(allows("https://localhost/", &["localhost"]));
        assert!(!allows("https://evil.example/", &[]));
        assert!(!allows("https://localhost/", &["evil.example"]));
        assert!(!allows("https://localhost/", &["localhost", "localhost"]));
        assert!(!allows("/", &[]));
    }
}
