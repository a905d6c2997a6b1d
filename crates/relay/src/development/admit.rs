//! Refuses requests before the server receives them. A browser would keep the response from a page that may not call,
//! but the request would already have had its effect.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::origin::Origins;
use super::pass::Relay;
use crate::host::Hosts;
use crate::tunnel;

/// The header in which browsers state how the calling page is related to the called address.
const SITE: &str = "sec-fetch-site";

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refusal {
    /// It addresses the relay by a name that anyone can own.
    Host,
    /// Its page is not allowed to call.
    Page,
    /// Its page may call, but its origin is not unique enough for a WebSocket.
    Socket,
    /// A browser sends it for a page that it does not name.
    Unnamed,
}

impl Refusal {
    fn text(self) -> &'static str {
        match self {
            Self::Host => "call it by localhost, or by its address: anyone can point other names here",
            Self::Page => "this page may not call; see --allow-origin",
            Self::Socket => {
                "`*` and `null` open no WebSocket, as any page can have such an origin: serve the page, and \
                 give its origin to --allow-origin"
            }
            Self::Unnamed => {
                "a browser asks for another page without its origin: use fetch, or `crossorigin`"
            }
        }
    }
}

/// Passes allowed requests on, and refuses the rest.
pub(crate) async fn admit(State(relay): State<Relay>, request: Request, next: Next) -> Response {
    match judge(relay.hosts(), &relay.config().origins, &request) {
        Ok(()) => next.run(request).await,
        Err(refusal) => {
            (StatusCode::FORBIDDEN, format!("turnwire relay: {}\n", refusal.text())).into_response()
        }
    }
}

fn judge(hosts: Hosts, pages: &Origins, request: &Request) -> Result<(), Refusal> {
    if !hosts.allow(request) {
        return Err(Refusal::Host);
    }
    let head = request.headers();
    let is_socket = tunnel::is_wanted(head);
    let mut origins = head.get_all(header::ORIGIN).iter();
    match (origins.next(), origins.next()) {
        (None, _) if is_from_a_program(head, is_socket) || pages.are_any() && !is_socket => Ok(()),
        (None, _) => Err(Refusal::Unnamed),
        (Some(page), None) if !pages.allow(page) => Err(Refusal::Page),
        (Some(page), None) if is_socket && !pages.allow_socket(page) => Err(Refusal::Socket),
        (Some(_), None) => Ok(()),
        (Some(_), Some(_)) => Err(Refusal::Page),
    }
}

/// Whether a request without an `Origin` header comes from no page, or from a page of the relay's own address.
///
/// Browsers omit the header where no permission is needed: for images, scripts, links, and forms that only read. They
/// never omit it for a WebSocket.
fn is_from_a_program(head: &HeaderMap, is_socket: bool) -> bool {
    let is_own = |site: &[u8]| matches!(site, b"same-origin" | b"none");
    head.get_all(SITE).iter().all(|site| !is_socket && is_own(site.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    const SOCKET: [(&str, &str); 2] = [("connection", "upgrade"), ("upgrade", "websocket")];
    const OWN: (&str, &str) = ("origin", "http://localhost:5173");
    const NAMED: (&str, &str) = ("origin", "https://app.example");
    const FOREIGN: (&str, &str) = ("origin", "https://evil.example");
    const NULL: (&str, &str) = ("origin", "null");

    fn pages(names: &[&str]) -> Origins {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        if names.is_empty() { Origins::ThisMachine } else { Origins::named(&names).expect("origins") }
    }

    fn judged(pages: &Origins, lines: &[(&str, &str)]) -> Result<(), Refusal> {
        let request = Request::builder().uri("/").header("host", "127.0.0.1:8791");
        let request = lines.iter().fold(request, |request, &(name, value)| request.header(name, value));
        judge(Hosts::ThisMachine, pages, &request.body(Body::empty()).expect("a request"))
    }

    /// The verdicts for a request and for a WebSocket.
    fn both(pages: &Origins, lines: &[(&str, &str)]) -> [Result<(), Refusal>; 2] {
        [judged(pages, lines), judged(pages, &[lines, &SOCKET[..]].concat())]
    }

    #[test]
    fn a_page_is_known_by_its_origin() {
        let page = Err(Refusal::Page);
        let socket = Err(Refusal::Socket);
        let cases = [
            (&[][..], OWN, [Ok(()), Ok(())]),
            (&[], NAMED, [page, page]),
            (&[], NULL, [page, page]),
            (&["https://app.example"], NAMED, [Ok(()), Ok(())]),
            (&["https://app.example"], OWN, [page, page]),
            (&["https://app.example"], NULL, [page, page]),
            (&["null"], NULL, [Ok(()), socket]),
            (&["null"], FOREIGN, [page, page]),
            (&["*"], FOREIGN, [Ok(()), socket]),
            (&["*"], OWN, [Ok(()), socket]),
            (&["*"], NULL, [Ok(()), socket]),
            (&["*"], ("origin", "*"), [Ok(()), socket]),
            (&["*", "https://app.example"], NAMED, [Ok(()), Ok(())]),
            (&["*", "null", "https://app.example"], NULL, [Ok(()), socket]),
        ];
        for (names, origin, expected) in cases {
            assert_eq!(both(&pages(names), &[origin]), expected, "{names:?} {origin:?}");
        }
    }

    #[test]
    fn an_origin_comes_once() {
        for names in [&[][..], &["*"], &["http://localhost:5173"]] {
            for second in [OWN, FOREIGN, NULL] {
                let verdicts = both(&pages(names), &[OWN, second]);
                assert_eq!(verdicts, [Err(Refusal::Page), Err(Refusal::Page)], "{names:?} {second:?}");
            }
        }
    }

    #[test]
    fn a_browser_names_its_page_or_stays_on_it() {
        let unnamed = Err(Refusal::Unnamed);
        for names in [&[][..], &["https://app.example"], &["null"]] {
            let pages = pages(names);
            assert_eq!(both(&pages, &[]), [Ok(()), Ok(())]);
            for (site, expected) in [
                ("cross-site", unnamed),
                ("same-site", unnamed),
                ("", unnamed),
                ("same-origin", Ok(())),
                ("none", Ok(())),
            ] {
                assert_eq!(both(&pages, &[(SITE, site)]), [expected, unnamed], "{names:?} {site}");
            }
            assert_eq!(judged(&pages, &[(SITE, "none"), (SITE, "cross-site")]), unnamed);
        }
        assert_eq!(both(&pages(&["*"]), &[(SITE, "cross-site")]), [Ok(()), unnamed]);
    }

    #[test]
    fn a_named_page_may_be_on_another_site() {
        // For example http://localhost:5173 calling http://127.0.0.1:8791.
        assert_eq!(both(&pages(&[]), &[OWN, (SITE, "cross-site")]), [Ok(()), Ok(())]);
        assert_eq!(both(&pages(&["https://app.example"]), &[NAMED, (SITE, "cross-site")]), [Ok(()), Ok(())]);
        assert_eq!(judged(&pages(&[]), &[FOREIGN, (SITE, "same-origin")]), Err(Refusal::Page));
    }

    #[test]
    fn no_page_makes_up_for_the_host() {
        for names in [&[][..], &["*"], &["http://localhost:5173"]] {
            for lines in [&[][..], &[OWN], &SOCKET] {
                let request = Request::builder().uri("/").header("host", "evil.example:8791");
                let request =
                    lines.iter().fold(request, |request, &(name, value)| request.header(name, value));
                let request = request.body(Body::empty()).expect("a request");
                assert_eq!(judge(Hosts::ThisMachine, &pages(names), &request), Err(Refusal::Host));
            }
        }
    }
}
