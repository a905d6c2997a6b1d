//! `POST /sessions/{id}/turns`: a request becomes a turn.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use serde_json::value::to_raw_value;

use super::catalog::capabilities;
use super::error::{Admitted, Refusal};
use super::input::{NewTurn, Overrides, Sorted, read};
use super::message::Message;
use super::player::{Beginning, Player};
use super::recorder::{Recorder, TurnResponse};
use super::session::Session;
use super::stream::{events, nothing};
use super::traps::{ABANDON, LOST_END, NOTHING};
use super::wire::{Mode, Wire};
use crate::agents;
use crate::http::Output;
use crate::store::{OnlyReader, Turn};
use crate::turns::Stop;

pub(super) async fn create(
    Admitted(app): Admitted,
    Path(id): Path<String>,
    output: Output,
    body: Bytes,
) -> Result<Response, Refusal> {
    let session = app.own.find(&id).ok_or_else(Refusal::no_session)?;
    let wanted: NewTurn = read(&body)?;
    let agent = session.state().agent.name.clone();
    wanted.check(&agent, capabilities(&agent).ok_or_else(Refusal::internal)?)?;
    let mode = wanted.mode();
    let traps = output.injection.traps();
    if wanted.messages.is_none() || traps.has(&NOTHING) {
        // The real server fails without a message, before the first event if the mode has events.
        return if mode == Mode::None { Err(Refusal::internal()) } else { Ok(nothing(&app, output)) };
    }
    let Accepted { text, beginning, beat } = accept(&session, wanted)?;
    let turn = Turn::plain(app.store.ids.next(), text);
    session.kept.add(&turn);
    let clock = app.clock(&turn, output.delivery, beat);
    let reader = traps.has(&ABANDON).then(|| OnlyReader::new(&turn, Stop::Cancelled));
    let wire = Wire::new(mode, Arc::clone(&turn.log), traps.has(&LOST_END));
    let recorder = Recorder::new(app.clone(), session, wire, traps);
    let task = tokio::spawn(play(Player::new(recorder, clock), beginning, Arc::clone(&turn)));
    if mode != Mode::None {
        return Ok(events(&app, &turn, output, reader));
    }
    // While this waits, the reader stays connected.
    let answer = task.await.ok().flatten();
    drop(reader);
    answer.map(|answer| Json(answer).into_response()).ok_or_else(Refusal::internal)
}

/// Plays a turn to its end, whether or not it has readers.
async fn play(player: Player, beginning: Beginning, turn: Arc<Turn>) -> Option<TurnResponse> {
    let response = player.play(beginning).await;
    turn.progress().state = Some(to_raw_value(&response).unwrap_or_default());
    response
}

/// What a session makes of a turn's body.
struct Accepted {
    text: String,
    beginning: Beginning,
    /// The script's own pace.
    beat: Option<Duration>,
}

/// Stores what is new. Messages of the user cancel pending calls, unless they come with the answers.
fn accept(session: &Session, wanted: NewTurn) -> Result<Accepted, Refusal> {
    let mut state = session.state();
    let sorted = Sorted::of(wanted.messages.unwrap_or_default(), state.pending.as_deref())?;
    let Overrides { tools, options } = wanted.agent.unwrap_or_default();
    state.set_up(tools, options, wanted.tools);
    let pending = state.pending.take();
    let (text, files) = (sorted.text(), sorted.files());
    state.history.extend(sorted.said.into_iter().map(|content| Message::User { content }));
    if let Some(pending) = pending.filter(|_| !sorted.answers.is_empty()) {
        return Ok(Accepted { text, beginning: Beginning::Answers(pending, sorted.answers), beat: None });
    }
    let (steps, beat) = agents::perform(&state.conversation.prompt(text.clone(), files));
    Ok(Accepted { text, beginning: Beginning::Script(steps), beat })
}
