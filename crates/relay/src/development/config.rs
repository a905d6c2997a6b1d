//! The relay's settings: the server behind it, the pages that may call, and the headers that it adds.

use std::ffi::OsString;
use std::str::FromStr;

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

use super::origin::Origins;
use crate::address::Upstream;
use crate::headers;

/// The settings of a relay.
#[derive(Debug, Clone)]
pub struct RelayConfig {
    /// The server that receives the requests.
    pub upstream: Upstream,
    /// The pages that may call.
    pub origins: Origins,
    /// Headers that every request gets.
    pub secrets: SecretHeaders,
    /// Whether each request is written to stderr.
    pub log: bool,
}

/// The name of the environment variable with the value of the `Authorization` header.
const AUTHORIZATION: &str = "TURNWIRE_RELAY_AUTHORIZATION";
/// The prefix of variables with other headers. The rest of the name is the header's name, with `_` for `-`.
const PREFIX: &str = "TURNWIRE_RELAY_HEADER_";

/// Headers whose values are never displayed: not in logs, not in errors, not by `Debug`.
#[derive(Debug, Clone, Default)]
pub struct SecretHeaders(HeaderMap);

impl SecretHeaders {
    /// Reads the headers from environment variables. Errors name the variable, not its value. Empty ones are ignored.
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

    /// Adds the headers to a head, replacing those of the same name.
    pub(crate) fn replace_in(&self, head: &mut HeaderMap) {
        for (name, value) in &self.0 {
            head.insert(name, value.clone());
        }
    }
}

/// The header that a variable sets, if any.
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
