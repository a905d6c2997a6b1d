//! The address of a server behind the relay.

use std::fmt;
use std::str::FromStr;

use axum::http::Uri;
use axum::http::uri::{Authority, PathAndQuery, Scheme};

/// The address of a server, with the path that all its paths begin with: `https://example.com/api`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    scheme: Scheme,
    authority: Authority,
    /// Without a trailing slash.
    path: String,
}

impl Upstream {
    /// The address that a request for this path is sent to. The path is the server's, unchanged. `None` for a request
    /// without a path, such as `OPTIONS *`.
    pub(crate) fn join(&self, path: &PathAndQuery) -> Option<Uri> {
        path.as_str().starts_with('/').then_some(())?;
        let below = match path.path() {
            "/" if !self.path.is_empty() => &path.as_str()[1..],
            _ => path.as_str(),
        };
        let path = format!("{}{below}", self.path);
        let uri = Uri::builder().scheme(self.scheme.clone()).authority(self.authority.clone());
        uri.path_and_query(path).build().ok()
    }

    /// The address itself.
    pub(crate) fn uri(&self) -> Uri {
        let path = if self.path.is_empty() { "/" } else { &self.path };
        let uri = Uri::builder().scheme(self.scheme.clone()).authority(self.authority.clone());
        // All parts come from a valid URI.
        uri.path_and_query(path).build().unwrap_or_default()
    }

    /// The host, and the port if it is named.
    pub(crate) fn authority(&self) -> &str {
        self.authority.as_str()
    }

    /// Whether connections to it are encrypted.
    pub(crate) fn is_encrypted(&self) -> bool {
        self.scheme == Scheme::HTTPS
    }
}

impl fmt::Display for Upstream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}://{}{}", self.scheme, self.authority, self.path)
    }
}

impl FromStr for Upstream {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.contains(['?', '#']) {
            return Err("it must end with its path: no query, no fragment".to_owned());
        }
        let uri: Uri = text.parse().map_err(|_| "it is no URL".to_owned())?;
        let parts = uri.into_parts();
        let (Some(scheme), Some(authority)) = (parts.scheme, parts.authority) else {
            return Err("it must begin with http:// or https:// and a host".to_owned());
        };
        // A WebSocket begins as an HTTP request.
        let scheme = match scheme.as_str() {
            "http" | "ws" => Scheme::HTTP,
            "https" | "wss" => Scheme::HTTPS,
            _ => return Err("it must begin with http://, https://, ws:// or wss://".to_owned()),
        };
        if authority.as_str().contains('@') {
            return Err("it must hold no user and no password: give them as a header".to_owned());
        }
        let path = parts.path_and_query.map(|path| path.path().trim_end_matches('/').to_owned());
        Ok(Self { scheme, authority, path: path.unwrap_or_default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upstream(text: &str) -> Result<Upstream, String> {
        text.parse()
    }

    fn joined(upstream: &str, path: &'static str) -> Option<String> {
        let upstream: Upstream = upstream.parse().expect("an upstream");
        upstream.join(&PathAndQuery::from_static(path)).map(|uri| uri.to_string())
    }

    #[test]
    fn paths_are_joined_as_they_are() {
        let cases = [
            ("http://a:1", "/v1/x?y=%2F&z", "http://a:1/v1/x?y=%2F&z"),
            ("http://a:1/", "/", "http://a:1/"),
            ("https://a.example/api/", "/v1//x", "https://a.example/api/v1//x"),
            ("http://[::1]:80/a/b", "/%7e", "http://[::1]:80/a/b/%7e"),
            ("ws://a:1", "/x", "http://a:1/x"),
            ("wss://a.example/rpc", "/", "https://a.example/rpc"),
            ("ws://a/rpc", "/?k=1", "http://a/rpc?k=1"),
            ("https://a.example/api", "//x", "https://a.example/api//x"),
        ];
        for (address, path, expected) in cases {
            assert_eq!(joined(address, path).as_deref(), Some(expected));
        }
        assert_eq!(joined("http://a", "*"), None);
    }

    #[test]
    fn an_upstream_is_an_address_without_secrets() {
        for wrong in
            ["", "a:1", "/v1", "ftp://a", "http://", "http://u:secret@a/", "http://a/?k=secret", "http://a#b"]
        {
            let error = upstream(wrong).expect_err(wrong);
            assert!(!error.contains("secret"), "{error}");
        }
        assert_eq!(upstream("http://a:1/x/").map(|upstream| upstream.to_string()), Ok("http://a:1/x".into()));
    }
}
