//! The entry points of the fuzz targets: private parts that parse untrusted bytes.

use axum::http::{Method, Uri};
use bytes::Bytes;
use jsonwebtoken::jwk::JwkSet;

use crate::Config;
use crate::config::IdentityConfig;
use crate::identity::named;
use crate::route::{Mark, Protocol, StartBody, query};
use crate::sse::Splitter;

/// A request as the relay would forward it: its path and query, and the session and turn that it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passed {
    /// The path and the query, rebuilt.
    pub target: String,
    /// The session that the path names.
    pub session: Option<String>,
    /// The turn that the path names.
    pub turn: Option<String>,
}

/// Matches a request's method, path and query against the routes of this protocol (its name in a config). `None` if
/// none match.
pub fn route(protocol: &str, method: &str, path: &str, raw: Option<&str>) -> Option<Passed> {
    let protocol: Protocol = protocol.parse().ok()?;
    let matched = protocol.route(&Method::from_bytes(method.as_bytes()).ok()?, path).ok()?;
    let target = matched.target(&query(raw)?);
    // An invalid address is not sent.
    target.parse::<Uri>().ok()?;
    Some(Passed { target, session: matched.session, turn: matched.turn })
}

/// The session and the parent run that the body of a start names. `None` if the body is ambiguous.
pub fn body(body: &[u8]) -> Option<(Option<String>, Option<String>)> {
    let named = StartBody::any(body).and_then(|body| body.named()).ok()?;
    Some((named.session, named.parent))
}

/// Frames, each with whether it ends its turn.
pub type Frames = Vec<(Bytes, bool)>;

/// Splits a stream of this protocol into the frames that are kept, each with whether it may be the turn's last. `Err`,
/// with the frames before it, if one is too large.
pub fn split(protocol: &str, chunks: &[&[u8]]) -> Result<Frames, Frames> {
    let (mut cuts, mut fed) = (Vec::new(), Ok(()));
    if let Ok(protocol) = protocol.parse() {
        let mut splitter = Splitter::new(protocol);
        fed = chunks.iter().try_for_each(|chunk| splitter.feed(chunk, &mut cuts));
    }
    let frames = cuts.into_iter().map(|cut| (cut.bytes, cut.mark != Mark::Middle)).collect();
    if fed.is_ok() { Ok(frames) } else { Err(frames) }
}

/// The user that a token names, with a set of keys (JWKS) and the `identity.bearer` of a config.
pub fn caller(config: &Config, keys: &[u8], token: &str) -> Option<String> {
    let IdentityConfig::Bearer(config) = &config.identity else { return None };
    let keys: JwkSet = serde_json::from_slice(keys).ok()?;
    named(token, &keys, config)
}
