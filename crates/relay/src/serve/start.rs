//! A start of a kept turn. The page names the turn, so a start whose answer was lost can be sent again: the agent gets it
//! once.

use axum::http::StatusCode;
use axum::response::Response;
use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::Call;
use super::owner::{self, Owned};
use super::read::{self, Source};
use super::refusal::Refusal;
use crate::edge;
use crate::limits::Kind;
use crate::log::{Created, NewTurn};

/// The longest id of a turn.
const LONGEST: usize = 200;

pub(super) async fn start(call: &Call, session: Option<String>, body: Bytes) -> Result<Response, Refusal> {
    let turn = match call.head.get(edge::TURN) {
        Some(turn) => {
            let turn = turn.to_str().ok().filter(|turn| is_id(turn));
            turn.ok_or_else(|| {
                Refusal::bad("`turnwire-turn` must have letters, digits, `-`, `_`, `.` and `:`, at most 200")
            })?
            .to_owned()
        }
        None => random_id()?,
    };
    let after = read::cursor(&call.head, &call.query)?;
    let key = call.key(&turn);
    let target = call.matched.target(&call.query);
    let head = edge::for_agent(&call.head, false);
    let request: [u8; 32] = {
        let mut digest = Sha256::new();
        digest.update(target.as_bytes());
        digest.update([0]);
        digest.update(&body);
        digest.finalize().into()
    };
    let reading = call.app.usage.take(Kind::Stream, &call.caller.subject)?;
    let making = call.app.hubs.making.lock().await;
    let (source, known) = match call.app.hubs.get(&key) {
        Some(hub) => {
            let request = hub.request;
            (Source::Open(hub), Some(request))
        }
        None => match call.app.log.head(key.clone()).await {
            Ok(head) => {
                let request = head.new.request;
                (Source::closed(head)?, Some(request))
            }
            Err(crate::log::LogError::Gone) => {
                if call.app.is_draining() {
                    let text = "the relay is about to end, and starts no more turns";
                    let refusal = Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "draining", text);
                    return Err(refusal.again_after(std::time::Duration::from_secs(2)));
                }
                call.app.usage.start(&call.caller.subject)?;
                let running = call.app.usage.take(Kind::Turn, &call.caller.subject)?;
                let sent = call.agent().request(call.method.clone(), &target, head, body);
                let sent = sent.ok_or_else(Refusal::not_found)?;
                let claim = match call.app.log.create(key.clone(), NewTurn { session, request }).await? {
                    Created::New(claim) => claim,
                    // Another process has the file: there is none.
                    Created::Exists(_) => return Err(Refusal::not_found()),
                };
                let (hub, requests) = call.app.hubs.open(key.clone(), claim.log, request);
                let owned = Owned {
                    app: call.app.clone(),
                    agent: call.agent,
                    hub: hub.clone(),
                    claim,
                    requests,
                    running,
                };
                let (app, owned_hub, owned_key) = (call.app.clone(), hub.clone(), key.clone());
                tokio::spawn(async move {
                    if tokio::spawn(owner::run(owned, sent)).await.is_err() {
                        // A fault of the relay must not leave readers waiting.
                        owned_hub.abandon(owner::FAULT);
                        app.hubs.close(&owned_key);
                    }
                });
                (Source::Open(hub), None)
            }
            Err(error) => return Err(error.into()),
        },
    };
    drop(making);
    if known.is_some_and(|known| known != request) {
        let text = "another request has started a turn of this id: choose a new id for each turn";
        return Err(Refusal::new(StatusCode::CONFLICT, "turn_taken", text));
    }
    read::respond(read::Wanted {
        app: call.app.clone(),
        key,
        source,
        after,
        is_ours: call.is_ours(),
        connection: call.connection.clone(),
        valid_for: call.caller.valid_for,
        reading,
    })
    .await
}

/// Whether a text may be a turn's id.
pub(super) fn is_id(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
    !text.is_empty() && text.len() <= LONGEST && text.bytes().all(is_plain)
}

/// An id for a turn that the client has not named: it cannot be guessed, and so not met by chance.
fn random_id() -> Result<String, Refusal> {
    let failed =
        |_| Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "no_random", "the system has no random numbers");
    Ok(format!("relay-{:016x}{:016x}", getrandom::u64().map_err(failed)?, getrandom::u64().map_err(failed)?))
}
