//! Which host names and pages may call the relay, and which headers pass.

use std::time::Duration;

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::config::{Config, IdentityConfig};
use crate::host::{self, Hosts};
use crate::tunnel;

/// Sent by clients that know the relay. They are informed how a turn was cut.
pub(crate) const RELAY: HeaderName = HeaderName::from_static("turnwire-relay");
/// A turn's id, which the page chooses.
pub(crate) const TURN: HeaderName = HeaderName::from_static("turnwire-turn");
/// The id of a turn's log.
pub(crate) const LOG: HeaderName = HeaderName::from_static("turnwire-log");
pub(crate) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The header in which browsers state how the calling page is related to the called address.
const SITE: &str = "sec-fetch-site";
/// The headers that pass to an agent. All others are dropped, including what callers claim about themselves.
const TO_AGENT: [&str; 8] = [
    "accept",
    "accept-language",
    "content-type",
    "idempotency-key",
    "if-none-match",
    "last-event-id",
    "traceparent",
    "tracestate",
];
const SOCKET_TO_AGENT: [&str; 4] =
    ["sec-websocket-key", "sec-websocket-version", "sec-websocket-protocol", "sec-websocket-extensions"];
/// The headers that pass to a caller.
const TO_CALLER: [&str; 12] = [
    "cache-control",
    "content-disposition",
    "content-language",
    "content-length",
    "content-type",
    "etag",
    "last-modified",
    "retry-after",
    "x-request-id",
    "sec-websocket-accept",
    "sec-websocket-protocol",
    "sec-websocket-extensions",
];

/// Why a request is refused before its body is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// It addresses the relay by an unknown name.
    Host,
    /// Its page may not call, or is not named.
    Page,
    /// It has cookies, which its page may not know about.
    Unasked,
}

impl Foreign {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Host => "the relay has another name: see `hosts` in its config",
            Self::Page => "this page may not call: see `origins` in the relay's config",
            Self::Unasked => "with cookies, every request needs the header `turnwire-relay: 1`",
        }
    }
}

/// The hosts and pages that may call.
#[derive(Debug, Clone)]
pub(crate) struct Edge {
    hosts: Vec<String>,
    is_local: bool,
    origins: Vec<String>,
    has_cookies: bool,
}

impl Edge {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            hosts: config.hosts.clone(),
            is_local: config.listen.ip().is_loopback(),
            origins: config.origins.clone(),
            has_cookies: matches!(config.identity, IdentityConfig::Forward(_)),
        }
    }

    /// Whether a request is accepted.
    pub(crate) fn judge(&self, request: &Request) -> Result<(), Foreign> {
        if !self.knows_host(request) {
            return Err(Foreign::Host);
        }
        let head = request.headers();
        let is_socket = tunnel::is_wanted(head);
        let mut origins = head.get_all(header::ORIGIN).iter();
        match (origins.next(), origins.next()) {
            // No origin: a program, or the relay's own page. Browsers name the page of every socket.
            (None, _) if is_socket && self.has_cookies => return Err(Foreign::Page),
            (None, _) if head.get_all(SITE).iter().all(|site| !is_socket && is_own(site.as_bytes())) => {}
            (Some(origin), None) if self.allows(origin) => {}
            _ => return Err(Foreign::Page),
        }
        // A page of another origin cannot send this header without a preflight. A socket's page is checked above.
        if self.has_cookies && !is_socket && !head.contains_key(RELAY) {
            return Err(Foreign::Unasked);
        }
        Ok(())
    }

    fn knows_host(&self, request: &Request) -> bool {
        if self.is_local && Hosts::ThisMachine.allow(request) {
            return true;
        }
        host::named(request).is_some_and(|mut hosts| hosts.all(|host| self.is_own(host)))
    }

    /// Whether a request names the admin address: by the relay's names, or by any address, as only names can be led elsewhere.
    pub(crate) fn knows_admin_host(&self, request: &Request) -> bool {
        Hosts::Addresses.allow(request) || self.knows_host(request)
    }

    fn is_own(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let name = host.rsplit_once(':').filter(|_| !host.ends_with(']')).map_or(&*host, |(name, _)| name);
        self.hosts.iter().any(|own| *own == host || own == name)
    }

    fn allows(&self, origin: &HeaderValue) -> bool {
        let Ok(origin) = origin.to_str() else { return false };
        // Without a list, pages of this machine may call, if the relay listens on this machine only.
        if self.origins.is_empty() && self.is_local {
            let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            return authority.is_some_and(host::is_this_machine);
        }
        self.origins.iter().any(|allowed| allowed == origin)
    }

    /// Answers preflights, and lets pages read the answers.
    pub(crate) fn cors(&self) -> CorsLayer {
        let edge = self.clone();
        let own = [RELAY, TURN, LOG, LAST_EVENT_ID, header::AUTHORIZATION];
        let sent = TO_AGENT.iter().map(|name| HeaderName::from_static(name)).chain(own);
        let read = TO_CALLER.iter().map(|name| HeaderName::from_static(name)).chain([RELAY, TURN, LOG]);
        CorsLayer::new()
            .allow_origin(AllowOrigin::predicate(move |origin, _| edge.allows(origin)))
            .allow_methods([Method::GET, Method::POST, Method::PATCH, Method::DELETE])
            .allow_headers(sent.collect::<Vec<_>>())
            .expose_headers(read.collect::<Vec<_>>())
            .allow_credentials(self.has_cookies)
            .max_age(Duration::from_mins(10))
    }
}

fn is_own(site: &[u8]) -> bool {
    matches!(site, b"same-origin" | b"none")
}

/// The headers of a request that pass to an agent.
pub(crate) fn for_agent(head: &HeaderMap, is_socket: bool) -> HeaderMap {
    let socket = SOCKET_TO_AGENT.iter().filter(|_| is_socket);
    kept(head, TO_AGENT.iter().chain(socket))
}

/// Whether a response is compressed. The relay asks for none that is.
pub(crate) fn is_encoded(head: &HeaderMap) -> bool {
    let mut codings = head.get_all(header::CONTENT_ENCODING).iter();
    codings.any(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// The headers of a response that pass to a caller.
pub(crate) fn for_caller(head: &HeaderMap) -> HeaderMap {
    kept(head, TO_CALLER.iter())
}

fn kept<'a>(head: &HeaderMap, names: impl Iterator<Item = &'a &'static str>) -> HeaderMap {
    let mut kept = HeaderMap::new();
    for name in names.map(|name| HeaderName::from_static(name)) {
        for value in head.get_all(&name) {
            kept.append(&name, value.clone());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    const FORWARD: &str =
        "[identity.forward]\nurl = \"https://id.example.com/whoami\"\nheader = \"x-user\"\n";

    fn edge(listen: &str, identity: &str) -> Edge {
        let text = format!(
            "listen = \"{listen}\"\nhosts = [\"relay.example.com\", \"other.example.com:8443\"]\n\
             origins = [\"https://app.example.com\"]\n{identity}\n[upstream.a]\nprotocol = \"aap\"\nurl = \"http://a\"\n"
        );
        Edge::new(&Config::parse(&text).expect("a config"))
    }

    fn judged(edge: &Edge, lines: &[(&str, &str)]) -> Result<(), Foreign> {
        let request = Request::builder().uri("/a/meta");
        let request = lines.iter().fold(request, |request, &(name, value)| request.header(name, value));
        edge.judge(&request.body(Body::empty()).expect("a request"))
    }

    const HOST: (&str, &str) = ("host", "relay.example.com");
    const OWN: (&str, &str) = ("origin", "https://app.example.com");
    const SOCKET: [(&str, &str); 2] = [("connection", "upgrade"), ("upgrade", "websocket")];

    #[test]
    fn a_host_is_one_of_its_own() {
        let edge = edge("0.0.0.0:8791", FORWARD);
        let with = |host| judged(&edge, &[("host", host), OWN, ("turnwire-relay", "1")]);
        for host in ["relay.example.com", "Relay.Example.com:443", "other.example.com:8443"] {
            assert_eq!(with(host), Ok(()), "{host}");
        }
        for host in [
            "other.example.com",
            "localhost",
            "127.0.0.1:8791",
            "evil.example",
            "relay.example.com.evil.example",
            "",
        ] {
            assert_eq!(with(host), Err(Foreign::Host), "{host}");
        }
    }

    /// Pages × cookies × sockets.
    #[test]
    fn a_page_is_one_of_the_list_and_says_what_it_does() {
        let none = edge("127.0.0.1:8791", "[identity.none]\n");
        let cookies = edge("0.0.0.0:8791", FORWARD);
        let ours = ("turnwire-relay", "1");
        for edge in [&none, &cookies] {
            assert_eq!(judged(edge, &[HOST, OWN, ours]), Ok(()));
            assert_eq!(judged(edge, &[HOST, ours]), Ok(()), "a program");
            assert_eq!(judged(edge, &[&[HOST, OWN][..], &SOCKET].concat()), Ok(()));
            for origin in [
                "https://evil.example",
                "null",
                "*",
                "https://app.example.com:444",
                "http://app.example.com",
                "https://app.example.com.evil",
            ] {
                let lines = [HOST, ours, ("origin", origin)];
                assert_eq!(judged(edge, &lines), Err(Foreign::Page), "{origin}");
                assert_eq!(judged(edge, &[&lines[..], &SOCKET].concat()), Err(Foreign::Page), "{origin}");
            }
            assert_eq!(judged(edge, &[HOST, OWN, OWN, ours]), Err(Foreign::Page));
            assert_eq!(judged(edge, &[HOST, ours, ("sec-fetch-site", "cross-site")]), Err(Foreign::Page));
        }
        assert_eq!(judged(&none, &[HOST, OWN]), Ok(()));
        assert_eq!(judged(&cookies, &[HOST, OWN]), Err(Foreign::Unasked), "no preflight was needed");
        assert_eq!(judged(&cookies, &[&[HOST][..], &SOCKET].concat()), Err(Foreign::Page));
    }

    #[test]
    fn what_identifies_the_caller_or_the_way_stays_here() {
        let mut head = HeaderMap::new();
        for name in [
            "accept",
            "authorization",
            "cookie",
            "content-type",
            "forwarded",
            "host",
            "origin",
            "referer",
            "x-forwarded-for",
            "x-user",
            "transfer-encoding",
            "turnwire-turn",
            "sec-websocket-key",
        ] {
            head.insert(name, HeaderValue::from_static("1"));
        }
        let names = |head: &HeaderMap| {
            let mut names: Vec<String> = head.keys().map(ToString::to_string).collect();
            names.sort();
            names
        };
        assert_eq!(names(&for_agent(&head, false)), ["accept", "content-type"]);
        assert_eq!(names(&for_agent(&head, true)), ["accept", "content-type", "sec-websocket-key"]);
        for name in [
            "set-cookie",
            "access-control-allow-origin",
            "clear-site-data",
            "location",
            "server",
            "retry-after",
        ] {
            head.insert(name, HeaderValue::from_static("1"));
        }
        assert_eq!(names(&for_caller(&head)), ["content-type", "retry-after"]);
    }
}
