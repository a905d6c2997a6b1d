//! Which pages may call, and how a browser is told so.

use std::str::FromStr;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tower_http::cors::{AllowHeaders, AllowMethods, AllowOrigin, CorsLayer, ExposeHeaders};

use crate::relay::pass::Relay;

/// How long a browser remembers that it may call, so that most calls are one request.
const REMEMBERED: Duration = Duration::from_mins(10);

/// The pages that may call, by their origins (scheme, host and port).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origins {
    /// Every page.
    Any,
    /// Pages that a server on this machine serves, on any port.
    ThisMachine,
    /// These.
    Named(Vec<String>),
}

impl Origins {
    /// The pages that `--allow-origin` names; `*` is any. Gives the words for what is wrong.
    pub fn named(origins: &[String]) -> Result<Self, String> {
        if origins.iter().any(|origin| origin == "*") {
            return Ok(Self::Any);
        }
        let checked = origins.iter().map(|origin| check(origin).map(|()| origin.to_ascii_lowercase()));
        checked.collect::<Result<_, _>>().map(Self::Named)
    }

    fn allow(&self, origin: &HeaderValue) -> bool {
        let Ok(origin) = origin.to_str() else { return false };
        match self {
            Self::Any => true,
            Self::ThisMachine => is_this_machine(origin),
            Self::Named(origins) => origins.iter().any(|allowed| allowed == origin),
        }
    }

    /// Whether a request may pass. One without an origin comes from a program, or from a page that
    /// believes the relay to be its own server: a name that leads here, but is no name of this machine.
    fn admit(&self, head: &HeaderMap) -> bool {
        let is_called_by_its_name = *self != Self::ThisMachine
            || head.get(header::HOST).and_then(|host| host.to_str().ok()).is_some_and(is_named_here);
        is_called_by_its_name && head.get_all(header::ORIGIN).iter().all(|origin| self.allow(origin))
    }
}

fn check(origin: &str) -> Result<(), String> {
    // The origin of pages that are files, and of sandboxed frames.
    if origin == "null" {
        return Ok(());
    }
    let is_origin = Uri::from_str(origin).is_ok_and(|uri| {
        uri.scheme().is_some() && uri.path() == "/" && uri.query().is_none() && !origin.ends_with('/')
    });
    if is_origin { Ok(()) } else { Err(format!("`{origin}` is no origin like http://localhost:5173")) }
}

fn is_this_machine(origin: &str) -> bool {
    let Ok(uri) = Uri::from_str(origin) else { return false };
    uri.scheme().is_some() && uri.authority().is_some_and(|authority| is_named_here(authority.as_str()))
}

/// Whether a host, with or without a port, can be nothing but this machine.
fn is_named_here(authority: &str) -> bool {
    let authority = Authority::from_str(authority);
    match authority.as_ref().map(Authority::host) {
        // Names under localhost lead nowhere else (RFC 6761, section 6.3).
        Ok(host) if host == "localhost" || host.ends_with(".localhost") => true,
        Ok(host) => {
            let address = host.trim_start_matches('[').trim_end_matches(']');
            address.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
        }
        Err(_) => false,
    }
}

/// Answers preflights, and tells browsers that a page may read the answers, all their headers included.
pub(crate) fn cors(origins: &Origins) -> CorsLayer {
    let origins = origins.clone();
    CorsLayer::new()
        .allow_origin(AllowOrigin::predicate(move |origin, _| origins.allow(origin)))
        .allow_methods(AllowMethods::mirror_request())
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers(ExposeHeaders::any())
        .allow_private_network(true)
        .max_age(REMEMBERED)
}

/// Refuses pages that may not call. The browser would only keep the answer from them; the request
/// would still have its effect.
pub(crate) async fn admit(State(relay): State<Relay>, request: Request, next: Next) -> Response {
    if relay.config().origins.admit(request.headers()) {
        return next.run(request).await;
    }
    let text = "turnwire relay: this page may not call; see --allow-origin\n";
    (StatusCode::FORBIDDEN, text).into_response()
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
        for origin in foreign.into_iter().chain(["null", "", "http://10.0.0.1", "http://notlocalhost"]) {
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
        assert_eq!(Origins::named(&["https://a".to_owned(), "*".to_owned()]), Ok(Origins::Any));
        assert!(Origins::named(&["null".to_owned()]).is_ok_and(|origins| allows(&origins, "null")));
        for wrong in ["a.example", "https://a.example/", "https://a.example/path", "", "a b"] {
            assert!(Origins::named(&[wrong.to_owned()]).is_err(), "{wrong}");
        }
    }
}
