//! Identifies callers. The relay has no sign-in: it checks what another server has signed, or asks that server.

mod bearer;
mod forward;
#[cfg(test)]
mod tests;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderMap;

use crate::config::IdentityConfig;
use bearer::Bearer;
use forward::Forward;

/// The longest that a caller stays connected. Then it has to reconnect with a valid token.
pub(crate) const LONGEST: Duration = Duration::from_hours(1);

/// A user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) subject: Arc<str>,
    /// How long the credentials stay valid, if known.
    pub(crate) valid_for: Option<Duration>,
}

impl Caller {
    /// How long the caller may stay connected.
    pub(crate) fn stays(&self) -> Duration {
        self.valid_for.map_or(LONGEST, |valid| valid.min(LONGEST))
    }
}

/// Why a caller is not identified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// There are no credentials.
    Missing,
    /// The credentials are invalid or have expired.
    Invalid,
    /// They cannot be checked now.
    Unavailable,
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "nothing says who calls: send a bearer token, or sign in",
            Self::Invalid => {
                "what says who calls is not good, or not any more: get a new token, or sign in again"
            }
            Self::Unavailable => "who calls cannot be checked now: try again",
        })
    }
}

pub(crate) type Answer<'a> = Pin<Box<dyn Future<Output = Result<Caller, Unknown>> + Send + 'a>>;

/// Identifies users.
pub(crate) trait Identity: Send + Sync {
    /// The user that sends a request with this head. `token` is a token from outside the head.
    fn identify<'a>(&'a self, head: &'a HeaderMap, token: Option<&'a str>) -> Answer<'a>;

    /// Whether it can identify callers now.
    fn is_ready(&self) -> Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        Box::pin(std::future::ready(true))
    }
}

/// All callers are one user.
struct OneUser;

impl Identity for OneUser {
    fn identify<'a>(&'a self, _: &'a HeaderMap, _: Option<&'a str>) -> Answer<'a> {
        Box::pin(std::future::ready(Ok(Caller { subject: "local".into(), valid_for: None })))
    }
}

/// The user that a token names, with these keys.
#[cfg(feature = "fuzzing")]
pub(crate) fn named(
    token: &str,
    keys: &jsonwebtoken::jwk::JwkSet,
    config: &crate::config::BearerConfig,
) -> Option<String> {
    let head = bearer::allowed(token, config).ok()?;
    bearer::judge(token, &head, keys, config).ok().map(|caller| caller.subject.to_string())
}

/// The identity that a config names.
pub(crate) fn of(config: &IdentityConfig) -> Box<dyn Identity> {
    match config {
        IdentityConfig::None => Box::new(OneUser),
        IdentityConfig::Bearer(config) => Box::new(Bearer::new(config.clone())),
        IdentityConfig::Forward(config) => Box::new(Forward::new(config.clone())),
    }
}
