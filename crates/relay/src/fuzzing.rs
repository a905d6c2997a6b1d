//! What the fuzz targets call: the parts that read bytes from outside, which are private otherwise.

use axum::http::{Method, Uri};
use bytes::Bytes;
use jsonwebtoken::jwk::JwkSet;

use crate::Config;
use crate::config::IdentityConfig;
use crate::identity::named;
use crate::route::{Mark, Protocol, StartBody, query};
use crate::sse::Splitter;

/// A request as the relay would send it on: its path and query, and the session and the turn that it concerns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passed {
    /// The path and the query, built anew.
    pub target: String,
    /// The session that the path names.
    pub session: Option<String>,
    /// The turn that the path names.
    pub turn: Option<String>,
}

/// Takes a request's method, path and query, as the server of this protocol (its name in a config) would. `None` if it does not
/// pass.
pub fn route(protocol: &str, method: &str, path: &str, raw: Option<&str>) -> Option<Passed> {
    let protocol: Protocol = protocol.parse().ok()?;
    let matched = protocol.route(&Method::from_bytes(method.as_bytes()).ok()?, path).ok()?;
    let target = matched.target(&query(raw)?);
    // What is no address is not sent.
    target.parse::<Uri>().ok()?;
    Some(Passed { target, session: matched.session, turn: matched.turn })
}

/// The session and the parent run that the body of a start names. `None` if it cannot be read in one way.
pub fn body(body: &[u8]) -> Option<(Option<String>, Option<String>)> {
    let named = StartBody::any(body).and_then(|body| body.named()).ok()?;
    Some((named.session, named.parent))
}

/// Frames, each with whether it ends its turn.
pub type Frames = Vec<(Bytes, bool)>;

/// Splits a stream of this protocol into the frames that are kept, each with whether it may be the turn's last. `Err` if one is
/// too large; with what came before it.
pub fn split(protocol: &str, chunks: &[&[u8]]) -> Result<Frames, Frames> {
    let (mut cuts, mut fed) = (Vec::new(), Ok(()));
    if let Ok(protocol) = protocol.parse() {
        let mut splitter = Splitter::new(protocol);
        fed = chunks.iter().try_for_each(|chunk| splitter.feed(chunk, &mut cuts));
    }
    let frames = cuts.into_iter().map(|cut| (cut.bytes, cut.mark != Mark::Middle)).collect();
    if fed.is_ok() { Ok(frames) } else { Err(frames) }
}

/// Whom a token names, by a set of keys (JWKS) and the `identity.bearer` of a config.
pub fn caller(config: &Config, keys: &[u8], token: &str) -> Option<String> {
    let IdentityConfig::Bearer(config) = &config.identity else { return None };
    let keys: JwkSet = serde_json::from_slice(keys).ok()?;
    named(token, &keys, config)
}
