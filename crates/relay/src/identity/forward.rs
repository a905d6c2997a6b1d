//! Asks another server who calls: the one that has signed the user in, and knows the cookies.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use sha2::{Digest, Sha256};

use super::{Answer, Caller, Identity, Unknown};
use crate::client::{self, UpstreamClient};
use crate::config::ForwardConfig;

/// The time limit for an answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long an answer is kept: a signed-out user is accepted no longer than this.
const KEPT: Duration = Duration::from_secs(30);
/// How many answers are kept.
const ANSWERS: usize = 10_000;

/// Asks the server, and caches the answers for a while.
pub(super) struct Forward {
    config: ForwardConfig,
    client: UpstreamClient,
    /// By a digest of the credentials.
    known: Mutex<HashMap<[u8; 32], (Caller, Instant)>>,
}

impl Forward {
    pub(super) fn new(config: ForwardConfig) -> Self {
        let client = client::client(&config.url);
        Self { config, client, known: Mutex::default() }
    }

    async fn ask(&self, head: HeaderMap) -> Result<Caller, Unknown> {
        let answer = client::get(&self.client, self.config.url.uri(), head, PATIENCE, 64 << 10).await;
        let (answer, _) = answer.map_err(|_| Unknown::Unavailable)?;
        match answer.status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => return Err(Unknown::Invalid),
            // For example to a sign-in page.
            status if status.is_redirection() => return Err(Unknown::Invalid),
            status if status.is_success() => {}
            _ => return Err(Unknown::Unavailable),
        }
        let mut subjects = answer.headers.get_all(&self.config.header).iter();
        match (subjects.next().and_then(|subject| subject.to_str().ok()), subjects.next()) {
            (Some(subject), None) if !subject.is_empty() => {
                Ok(Caller { subject: subject.into(), valid_for: None })
            }
            _ => Err(Unknown::Invalid),
        }
    }
}

/// All cookies as one header: HTTP/2 may have split them, and HTTP/1.1 must not (RFC 9113, section 8.2.3).
fn cookies(head: &HeaderMap) -> Option<HeaderValue> {
    let values: Vec<&[u8]> = head.get_all(header::COOKIE).iter().map(HeaderValue::as_bytes).collect();
    if values.is_empty() {
        return None;
    }
    let mut joined = HeaderValue::from_bytes(&values.join(&b"; "[..])).ok()?;
    joined.set_sensitive(true);
    Some(joined)
}

impl Identity for Forward {
    /// Ready if the server responds, whatever it says about a caller without credentials.
    fn is_ready(&self) -> Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        Box::pin(async { self.ask(HeaderMap::new()).await != Err(Unknown::Unavailable) })
    }

    fn identify<'a>(&'a self, head: &'a HeaderMap, _: Option<&'a str>) -> Answer<'a> {
        Box::pin(async move {
            let (mut digest, mut asked) = (Sha256::new(), HeaderMap::new());
            let tokens = head.get_all(header::AUTHORIZATION).iter().cloned();
            let values = cookies(head).map(|value| (header::COOKIE, value));
            for (name, value) in values.into_iter().chain(tokens.map(|value| (header::AUTHORIZATION, value)))
            {
                digest.update(name.as_str());
                digest.update((value.len() as u64).to_be_bytes());
                digest.update(value.as_bytes());
                asked.append(&name, value);
            }
            if asked.is_empty() {
                return Err(Unknown::Missing);
            }
            let digest: [u8; 32] = digest.finalize().into();
            let kept = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&digest).cloned();
            if let Some((caller, at)) = kept
                && at.elapsed() < KEPT
            {
                return Ok(caller);
            }
            let caller = self.ask(asked).await?;
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= ANSWERS {
                known.retain(|_, (_, at)| at.elapsed() < KEPT);
            }
            if known.len() < ANSWERS {
                known.insert(digest, (caller.clone(), Instant::now()));
            }
            Ok(caller)
        })
    }
}
