//! Tests a log with a turn that no agent has, to find early what its server forbids or does differently.

use bytes::Bytes;

use super::{Change, Claim, Created, LogError, NewTurn, ReplayLog, TurnKey, new_log_id};
use crate::turn::End;

/// The owner of the turn: not a user of any agent.
const NOBODY: &str = "turnwire-check";

/// Writes, reads and removes a turn.
pub(crate) async fn probe(log: &dyn ReplayLog) -> Result<(), LogError> {
    let turn = format!("{:016x}", new_log_id()?);
    let key = TurnKey { upstream: String::new(), subject: NOBODY.to_owned(), turn };
    let new = NewTurn { session: None, request: [0; 32] };
    let Created::New(mut claim) = log.create(key, new).await? else { return Err(not_kept()) };
    let played = play(log, &mut claim).await;
    let removed = log.remove(&claim).await;
    played?;
    removed?;
    match log.head(claim.key).await {
        Err(LogError::Gone) => Ok(()),
        Ok(_) => Err(not_kept()),
        Err(error) => Err(error),
    }
}

async fn play(log: &dyn ReplayLog, claim: &mut Claim) -> Result<(), LogError> {
    let frame = Bytes::from_static(b"data: 1\n\n");
    log.append(claim, 1, vec![frame.clone()], Change::default()).await?;
    if let Some(shared) = log.shared() {
        shared.note_readers(claim.key.clone()).await?;
        shared.beat(claim, 1).await?;
    }
    *claim = log.claim(claim.key.clone(), claim.epoch).await?;
    log.append(claim, 2, Vec::new(), Change { end: Some(End::Done), ..Change::default() }).await?;
    let (frames, head) =
        (log.read(claim.key.clone(), 0, usize::MAX).await?, log.head(claim.key.clone()).await?);
    let (upstream, session) = (claim.key.upstream.clone(), claim.key.turn.clone());
    let owner = log.own(upstream.clone(), session.clone(), NOBODY.to_owned()).await?;
    log.disown(upstream, session).await?;
    let is_kept = frames == [frame] && (head.last, head.end) == (1, Some(End::Done)) && owner == NOBODY;
    is_kept.then_some(()).ok_or_else(not_kept)
}

fn not_kept() -> LogError {
    LogError::Unreachable("it does not have what was written to it a moment ago".to_owned())
}
