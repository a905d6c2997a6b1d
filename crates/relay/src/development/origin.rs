//! Which pages may call, and the CORS headers that say so.

use std::str::FromStr;
use std::time::Duration;

use axum::http::{HeaderValue, Uri};
use tower_http::cors::{
    AllowHeaders, AllowMethods, AllowOrigin, AllowPrivateNetwork, CorsLayer, ExposeHeaders,
};

use crate::host;

/// How long a browser caches the permission to call, so that most calls need one request.
const REMEMBERED: Duration = Duration::from_mins(10);
/// Allows every origin.
const ANY: &str = "*";
/// The origin of pages that are files, and of sandboxed frames on any site.
const NULL: &str = "null";

/// The pages that may call, by their origins (scheme, host and port).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origins {
    /// Pages that a server on this machine serves, on any port.
    ThisMachine,
    /// The origins of `--allow-origin`: see [`Origins::named`].
    Named(Vec<String>),
}

impl Origins {
    /// The origins of `--allow-origin`: `*` allows any, `null` pages without an origin. These two do not allow
    /// WebSockets. An error says what is wrong.
    pub fn named(origins: &[String]) -> Result<Self, String> {
        let checked = origins.iter().map(|origin| check(origin).map(|()| origin.to_ascii_lowercase()));
        checked.collect::<Result<_, _>>().map(Self::Named)
    }

    /// Whether every page may call.
    pub(crate) fn are_any(&self) -> bool {
        matches!(self, Self::Named(origins) if origins.iter().any(|allowed| allowed == ANY))
    }

    /// Whether a page may call.
    pub(crate) fn allow(&self, origin: &HeaderValue) -> bool {
        let Ok(origin) = origin.to_str() else { return false };
        match self {
            Self::ThisMachine => is_this_machine(origin),
            Self::Named(origins) => origins.iter().any(|allowed| allowed == ANY || allowed == origin),
        }
    }

    /// Whether a page may open a WebSocket. Browsers ask no permission for it, and the server behind the relay does not
    /// see the origin. So only an origin that a single site can have is accepted.
    pub(crate) fn allow_socket(&self, origin: &HeaderValue) -> bool {
        let Ok(origin) = origin.to_str() else { return false };
        match self {
            Self::ThisMachine => is_this_machine(origin),
            Self::Named(origins) => {
                ![ANY, NULL].contains(&origin) && origins.iter().any(|allowed| allowed == origin)
            }
        }
    }
}

fn check(origin: &str) -> Result<(), String> {
    if [ANY, NULL].contains(&origin) {
        return Ok(());
    }
    let is_origin = !origin.contains(['@', '*'])
        && Uri::from_str(origin).is_ok_and(|uri| {
            uri.scheme().is_some() && uri.path() == "/" && uri.query().is_none() && !origin.ends_with('/')
        });
    if is_origin { Ok(()) } else { Err(format!("`{origin}` is no origin like http://localhost:5173")) }
}

fn is_this_machine(origin: &str) -> bool {
    let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    authority.is_some_and(host::is_this_machine)
}

/// Answers preflights, and lets pages read responses with all their headers.
pub(crate) fn cors(origins: &Origins) -> CorsLayer {
    let (to_read, to_reach) = (origins.clone(), origins.clone());
    CorsLayer::new()
        .allow_origin(AllowOrigin::predicate(move |origin, _| to_read.allow(origin)))
        .allow_methods(AllowMethods::mirror_request())
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers(ExposeHeaders::any())
        .allow_private_network(AllowPrivateNetwork::predicate(move |origin, _| to_reach.allow(origin)))
        .max_age(REMEMBERED)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(origins: &Origins, origin: &str) -> bool {
        origins.allow(&HeaderValue::from_str(origin).expect("a value"))
    }

    #[test]
    fn pages_of_this_machine_are_known_by_their_host() {
        let own = ["http://localhost", "https://localhost:5173", "http://127.0.0.1:8080", "http://[::1]:1"];
        for origin in own.into_iter().chain(["http://app.localhost:3000", "http://127.8.0.1"]) {
            assert!(allows(&Origins::ThisMachine, origin), "{origin}");
        }
        let foreign = ["https://example.com", "http://localhost.example.com", "http://127.0.0.1.example.com"];
        let others = ["null", "", "*", "http://10.0.0.1", "http://0.0.0.0:8791", "http://notlocalhost"];
        let malformed = [
            "localhost",
            "ftp://localhost",
            "ws://localhost",
            "file://localhost",
            "chrome-extension://localhost",
            "HTTP://localhost",
            "http:localhost",
            "http:///localhost",
            "http://x@localhost",
            "http://x:y@a.localhost",
            "http://localhost/",
            "http://localhost/path",
            "http://localhost?q",
            "http://localhost#f",
            "http://localhost:",
            "http://localhost:x",
            "http://localhost.",
            " http://localhost",
            "http://localhost, http://example.com",
            "http://localhost http://example.com",
            "http://http://localhost",
        ];
        for origin in foreign.into_iter().chain(others).chain(malformed) {
            assert!(!allows(&Origins::ThisMachine, origin), "{origin}");
        }
    }

    #[test]
    fn named_origins_are_whole_origins() {
        let named = Origins::named(&["https://a.example".to_owned(), "http://B.example:81".to_owned()]);
        let named = named.expect("origins");
        assert!(allows(&named, "https://a.example") && allows(&named, "http://b.example:81"));
        for other in ["http://a.example", "https://a.example:444", "https://x.a.example", "null"] {
            assert!(!allows(&named, other), "{other}");
        }
        for wrong in [
            "a.example",
            "https://a.example/",
            "https://a.example/path",
            "https://x@a.example",
            "https://*.example",
            "NULL",
            "",
            "a b",
        ] {
            assert!(Origins::named(&[wrong.to_owned()]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_any_site_can_have_opens_no_socket() {
        let allows_socket = |names: &[&str], origin: &'static str| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            let pages = Origins::named(&names).expect("origins");
            let origin = HeaderValue::from_static(origin);
            (pages.allow(&origin), pages.allow_socket(&origin))
        };
        assert_eq!(allows_socket(&["*"], "https://a.example"), (true, false));
        assert_eq!(allows_socket(&["null"], "null"), (true, false));
        assert_eq!(allows_socket(&["null", "https://a.example"], "https://a.example"), (true, true));
        assert_eq!(allows_socket(&["*", "https://a.example"], "https://a.example"), (true, true));
        assert_eq!(allows_socket(&["*"], "*"), (true, false));
    }
}
