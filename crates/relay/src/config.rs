//! How a relay is set up: the server behind it, the pages before it, and the headers it adds.

use std::ffi::OsString;
use std::fmt;
use std::str::FromStr;

use axum::http::uri::{Authority, PathAndQuery, Scheme};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Uri, header};

use crate::headers;
use crate::origin::Origins;

/// The settings of a relay.
#[derive(Debug, Clone)]
pub struct RelayConfig {
    /// The server that requests are passed on to.
    pub upstream: Upstream,
    /// The pages that may call.
    pub origins: Origins,
    /// Headers that every request gets.
    pub secrets: SecretHeaders,
    /// Whether each request is written to stderr.
    pub log: bool,
}

/// The address of a server, with the path that its paths begin with: `https://example.com/api`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    scheme: Scheme,
    authority: Authority,
    /// Without a slash at its end.
    path: String,
}

impl Upstream {
    /// Where a request for this path goes: the relay's own address is the server's, to the letter. `None` for a request
    /// that names no path, such as `OPTIONS *`.
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

    /// Whether its connections are encrypted.
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
        // A WebSocket begins as a request of HTTP.
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

/// The name of the environment variable with the value of the `Authorization` header.
const AUTHORIZATION: &str = "TURNWIRE_RELAY_AUTHORIZATION";
/// What the names of variables with other headers begin with; the rest is the header's name, with
/// `_` for `-`.
const PREFIX: &str = "TURNWIRE_RELAY_HEADER_";

/// Headers whose values are shown nowhere: not in logs, not in errors, not by `Debug`.
#[derive(Debug, Clone, Default)]
pub struct SecretHeaders(HeaderMap);

impl SecretHeaders {
    /// Takes the headers from the variables of an environment. An error names the variable, not its
    /// value. An empty variable counts as absent.
    pub fn from_environment(
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, String> {
        let mut headers = HeaderMap::new();
        for (variable, value) in variables {
            let Some(variable) = variable.to_str() else { continue };
            if value.is_empty() {
                continue;
            }
            let Some(name) = header_name(variable) else { continue };
            let name = name.map_err(|problem| format!("{variable}: {problem}"))?;
            let value = value.to_str().and_then(|value| HeaderValue::from_str(value.trim()).ok());
            let Some(mut value) = value else {
                return Err(format!("{variable}: its value cannot be that of a header"));
            };
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Ok(Self(headers))
    }

    /// Adds the headers to a head, in place of those of the same name.
    pub(crate) fn replace_in(&self, head: &mut HeaderMap) {
        for (name, value) in &self.0 {
            head.insert(name, value.clone());
        }
    }
}

/// The header that a variable stands for, if it stands for one.
fn header_name(variable: &str) -> Option<Result<HeaderName, String>> {
    if variable == AUTHORIZATION {
        return Some(Ok(header::AUTHORIZATION));
    }
    let name = variable.strip_prefix(PREFIX)?.replace('_', "-");
    Some(match HeaderName::from_str(&name) {
        Ok(name) if headers::is_for_one_connection(&name) || name == header::CONTENT_LENGTH => {
            Err(format!("the header {name} is the connection's own"))
        }
        Ok(name) => Ok(name),
        Err(_) => Err("it names no header".to_owned()),
    })
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

    fn secrets(variables: &[(&str, &str)]) -> Result<SecretHeaders, String> {
        SecretHeaders::from_environment(variables.iter().map(|(name, value)| (name.into(), value.into())))
    }

    #[test]
    fn variables_are_headers() {
        let variables = [
            ("TURNWIRE_RELAY_AUTHORIZATION", "Bearer very-secret\n"),
            ("TURNWIRE_RELAY_HEADER_X_API_KEY", "other-secret"),
            ("TURNWIRE_RELAY_HEADER_EMPTY", ""),
            ("PATH", "/bin"),
        ];
        let secrets = secrets(&variables).expect("headers");
        assert!(!format!("{secrets:?}").contains("secret"));
        let mut head = HeaderMap::new();
        head.append("authorization", HeaderValue::from_static("Bearer page"));
        head.append("authorization", HeaderValue::from_static("Bearer page too"));
        head.append("accept", HeaderValue::from_static("*/*"));
        secrets.replace_in(&mut head);
        let all: Vec<_> = head.get_all("authorization").iter().collect();
        assert_eq!(all, ["Bearer very-secret"]);
        assert_eq!(head["x-api-key"], "other-secret");
        assert_eq!(head.len(), 3);
    }

    #[test]
    fn a_wrong_variable_is_named_without_its_value() {
        let wrong = [
            ("TURNWIRE_RELAY_AUTHORIZATION", "very\nsecret"),
            ("TURNWIRE_RELAY_HEADER_", "very-secret"),
            ("TURNWIRE_RELAY_HEADER_HOST", "very-secret"),
            ("TURNWIRE_RELAY_HEADER_CONTENT_LENGTH", "very-secret"),
            ("TURNWIRE_RELAY_HEADER_TRANSFER_ENCODING", "very-secret"),
        ];
        for (name, value) in wrong {
            let error = secrets(&[(name, value)]).expect_err(name);
            assert!(error.contains(name) && !error.contains("secret"), "{error}");
        }
    }
}
