//! Which headers are passed on: not those of a single connection (RFC 9110, section 7.6.1), and not those that identify
//! the page or other servers on this machine.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

/// Headers for the next connection only, in addition to those that `Connection` names.
const CONNECTION_ONLY: [&str; 9] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];
/// Headers in which browsers describe the calling page. Servers refuse pages by them, but the relay is a program.
const OF_THE_PAGE: [&str; 2] = ["origin", "referer"];
/// The prefix of further such headers.
const FETCH: &str = "sec-fetch-";
/// Headers that all ports of a host share. The cookies of other servers on this machine must not reach this server, and
/// it must not set or clear them.
const OF_THE_HOST: [&str; 3] = ["cookie", "set-cookie", "clear-site-data"];
/// The prefix of the server's own CORS headers; the relay's are used instead.
const CORS: &str = "access-control-";

/// Whether a header belongs to one connection, so that it must not be set for the next.
pub(crate) fn is_for_one_connection(name: &HeaderName) -> bool {
    *name == header::HOST || CONNECTION_ONLY.contains(&name.as_str())
}

/// Removes from a request's head what is not passed on. The host is set with the address.
pub(crate) fn clean_request(head: &mut HeaderMap) {
    drop_connection_headers(head);
    head.remove(header::HOST);
    // The relay itself has asked for the body by reading it.
    head.remove(header::EXPECT);
    drop_prefixed(head, FETCH);
    for name in OF_THE_PAGE.into_iter().chain(OF_THE_HOST) {
        head.remove(name);
    }
}

/// Removes from a response's head what is not passed on.
pub(crate) fn clean_response(head: &mut HeaderMap) {
    drop_connection_headers(head);
    drop_prefixed(head, CORS);
    for name in OF_THE_HOST {
        head.remove(name);
    }
}

fn drop_prefixed(head: &mut HeaderMap, prefix: &str) {
    let names = head.keys().filter(|name| name.as_str().starts_with(prefix));
    for name in names.cloned().collect::<Vec<HeaderName>>() {
        head.remove(name);
    }
}

fn drop_connection_headers(head: &mut HeaderMap) {
    let values: Vec<HeaderValue> = head.get_all(header::CONNECTION).iter().cloned().collect();
    let named = values.iter().filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    for name in named {
        head.remove(name.trim());
    }
    for name in CONNECTION_ONLY {
        head.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let lines = lines.iter();
        lines.map(|&(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    fn names(head: &HeaderMap) -> Vec<&str> {
        let mut names: Vec<&str> = head.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn a_request_goes_without_its_connection_its_page_and_its_cookies() {
        let mut head = head(&[
            ("connection", "close, X-Hop"),
            ("connection", "keep-alive"),
            ("x-hop", "1"),
            ("te", "trailers"),
            ("transfer-encoding", "chunked"),
            ("upgrade", "websocket"),
            ("host", "127.0.0.1:8791"),
            ("origin", "http://page.example"),
            ("referer", "http://page.example/chat"),
            ("sec-fetch-mode", "cors"),
            ("sec-fetch-storage-access", "active"),
            ("cookie", "session=of-another-port"),
            ("cookie", "more=of-it"),
            ("accept", "text/event-stream"),
            ("content-length", "3"),
            ("x-own", "2"),
        ]);
        clean_request(&mut head);
        assert_eq!(names(&head), ["accept", "content-length", "x-own"]);
    }

    #[test]
    fn an_answer_goes_without_its_connection_its_cors_and_its_cookies() {
        let mut head = head(&[
            ("connection", "close"),
            ("keep-alive", "timeout=5"),
            ("transfer-encoding", "chunked"),
            ("access-control-allow-origin", "https://other.example"),
            ("access-control-allow-credentials", "true"),
            ("set-cookie", "session=for-every-port"),
            ("set-cookie", "more=of-it"),
            ("clear-site-data", "\"cookies\""),
            ("content-type", "text/event-stream"),
            ("retry-after", "2"),
        ]);
        clean_response(&mut head);
        assert_eq!(names(&head), ["content-type", "retry-after"]);
    }
}
