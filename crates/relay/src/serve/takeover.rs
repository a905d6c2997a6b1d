//! Turns that have lost their owner. They continue here if the agent keeps them; all others end.

use std::sync::Arc;

use super::App;
use super::hub::Known;
use super::owner::{self, First, Owned};
use crate::limits::Kind;
use crate::log::{Change, Claim, Head, LogError, ReplayLog, TurnKey};
use crate::mutant::mutant;
use crate::observe::Span;
use crate::trace;
use crate::turn::{CutReason, End, UpstreamState};

/// Takes a turn from the owner of this epoch, and returns its end if it has one now.
pub(super) async fn take_over(
    app: &Arc<App>,
    key: TurnKey,
    epoch: u64,
    reason: CutReason,
) -> Result<Option<End>, LogError> {
    if mutant!("left_open") {
        return Ok(None);
    }
    let claim = app.log.claim(key.clone(), epoch).await?;
    let head = app.log.head(key.clone()).await?;
    match begun(app, &key, &head).await? {
        Some((agent, name)) => {
            go_on(app, agent, claim, head, name);
            Ok(None)
        }
        None => close(&*app.log, &claim, &head, reason).await.map(Some),
    }
}

/// The agent that can be asked for the rest of a turn, and its id of the turn.
async fn begun(app: &App, key: &TurnKey, head: &Head) -> Result<Option<(usize, String)>, LogError> {
    let is_its = |agent: &super::Agent| agent.config.name == key.upstream && agent.config.is_logged;
    let Some(agent) = app.agents.iter().position(is_its) else { return Ok(None) };
    let protocol = app.agents[agent].config.protocol;
    if !protocol.has_cursor() || head.response.is_none() || head.last == 0 {
        return Ok(None);
    }
    Ok(app.name_of(key, protocol).await?.map(|name| (agent, name)))
}

fn go_on(app: &Arc<App>, agent: usize, claim: Claim, head: Head, name: String) {
    let known = Known { last: head.last, response: head.response.map(Arc::new), ..Known::default() };
    // Readers that follow the turn here keep following it, until this relay sends its own away.
    let (hub, requests) = app.hubs.open(claim.key.clone(), claim.log, head.new.request, known);
    let first = First::Rest { name, last: head.last, bytes: head.bytes };
    let running = app.usage.take_over(Kind::Turn, &claim.key.subject.as_str().into());
    let (app, new) = (app.clone(), head.new);
    owner::begin(Owned { app, agent, hub, claim, new, requests, running, span: Span::default() }, first);
}

/// Writes the end of a turn without an owner, and returns it.
async fn close(log: &dyn ReplayLog, claim: &Claim, head: &Head, reason: CutReason) -> Result<End, LogError> {
    // If the agent's response never began, the agent may not have received the request.
    let upstream = if head.response.is_some() { UpstreamState::Gone } else { UpstreamState::Unknown };
    let end = End::Cut { reason, upstream };
    let change = Change { end: Some(end), ..Change::default() };
    log.append(claim, head.last + 1, Vec::new(), change).await?;
    trace::acknowledged(claim, head.last + 1, 0, Some(end));
    Ok(end)
}
