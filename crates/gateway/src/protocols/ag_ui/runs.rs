//! A request becomes a run: `POST` of a `RunAgentInput`.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::conversation::Conversation;
use super::error::Refusal;
use super::input::RunInput;
use super::message::Message;
use super::player::{Beginning, Player};
use super::recorder::{Recorder, RunIds};
use super::scripts;
use super::server::Server;
use super::stream::{events, nothing};
use super::threads::{App, Thread, ThreadState};
use super::traps::{BUSY, DROP_PENDING, LOST_MESSAGE, NOTHING};
use super::waiting::{Rejection, Waiting};
use super::wire::Wire;
use crate::agents::saying;
use crate::context::bearer;
use crate::faults::Traps;
use crate::http::Output;
use crate::store::{Turn, random_suffix};

/// `POST /ag-ui`
pub(super) async fn plain(
    State(app): State<App>,
    headers: HeaderMap,
    output: Output,
    body: Bytes,
) -> Response {
    answer(run(&app, Server::Plain, &headers, output, &body))
}

/// `POST /ag-ui/store`
pub(super) async fn store(
    State(app): State<App>,
    headers: HeaderMap,
    output: Output,
    body: Bytes,
) -> Response {
    answer(run(&app, Server::Store, &headers, output, &body))
}

/// Turns either result into a response.
pub(super) fn answer(answer: Result<Response, Refusal>) -> Response {
    answer.unwrap_or_else(IntoResponse::into_response)
}

/// Checks the token of a request.
pub(super) fn admit(app: &App, headers: &HeaderMap) -> Result<(), Refusal> {
    if app.admits(bearer(headers)) { Ok(()) } else { Err(Refusal::unauthorized()) }
}

/// Begins the run that a request asks for.
pub(super) fn run(
    app: &App,
    server: Server,
    headers: &HeaderMap,
    mut output: Output,
    body: &[u8],
) -> Result<Response, Refusal> {
    admit(app, headers)?;
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if server == Server::Plain && !kind.starts_with("application/json") {
        let text = format!("Expected `Content-Type: application/json`, got {kind}");
        return Err(Refusal::text(StatusCode::UNSUPPORTED_MEDIA_TYPE, text));
    }
    let input = RunInput::read(server, body)?;
    let traps = output.injection.traps();
    output.injection.of_session(&input.thread);
    let thread = app.own.find_or_create(app, server, &input.thread);
    let busy = thread.state().live().is_some();
    match server {
        // The kept thread is sent, even while a run is active.
        Server::Store if input.asks_for_thread() => {}
        _ if traps.has(&BUSY) => return Err(Refusal::busy()),
        Server::Store if busy => return Err(Refusal::busy()),
        // The real server responds with no event at all.
        Server::Copilot if busy => return Ok(nothing(app, output)),
        _ if traps.has(&NOTHING) => return Ok(nothing(app, output)),
        _ => {}
    }
    let ids = RunIds {
        thread: input.thread.clone(),
        run: input.run.clone(),
        base: format!("msg_{}", random_suffix(16)),
    };
    let accepted = accept(app, server, &thread, &input, &traps);
    let turn = Turn::plain(input.run.clone(), input.prompt(&[]).text);
    thread.kept.add(&turn);
    let wire =
        Wire::new(Arc::clone(&turn.log), accepted.conversation, accepted.state, &traps, &accepted.answered);
    let player = Player {
        recorder: Recorder::new(app.clone(), wire, ids.clone()),
        clock: app.clock(&turn, output.delivery, accepted.beat),
        input: Arc::new(input),
        traps: traps.clone(),
        server,
        echo: accepted.echo,
        waiting: accepted.waiting,
        app: app.clone(),
        thread: Arc::clone(&thread),
        turn: Arc::clone(&turn),
    };
    thread.state().runs.push(Arc::clone(&turn));
    tokio::spawn(player.play(accepted.beginning));
    Ok(events(app, &turn, &ids, output, server, &traps))
}

/// The result of a request to a thread.
struct Accepted {
    beginning: Beginning,
    conversation: Conversation,
    state: Value,
    /// The request, repeated in the first event.
    echo: Option<Value>,
    /// The calls whose answers the run begins with.
    answered: Vec<String>,
    /// The pending questions if the run changes nothing.
    waiting: Option<Arc<Waiting>>,
    /// The script's own pace.
    beat: Option<Duration>,
}

fn accept(app: &App, server: Server, thread: &Thread, input: &RunInput, traps: &Traps) -> Accepted {
    let state = thread.state();
    let new = state.conversation.new_of(&input.messages);
    // A client that knows no state sends an empty one.
    let kept = (server == Server::Store).then(|| state.state.clone());
    let conversation = conversation(server, &state, input);
    let mut accepted = Accepted {
        beginning: Beginning::Hydration,
        conversation,
        state: input
            .state
            .clone()
            .filter(|came| kept.is_none() || *came != json!({}))
            .or(kept)
            .unwrap_or_else(|| json!({})),
        echo: (server == Server::Copilot).then(|| input.echo(&new)),
        answered: Vec::new(),
        waiting: None,
        beat: None,
    };
    let waiting = state.waiting.clone().or_else(|| app.own.waiting_for(input));
    drop(state);
    (accepted.beginning, accepted.beat) = begin(server, input, traps, waiting.as_ref());
    match &accepted.beginning {
        Beginning::Answers(_, taken) => accepted.answered.clone_from(&taken.calls),
        Beginning::Rejected(_) | Beginning::Hydration => accepted.waiting = waiting,
        Beginning::Script(_) | Beginning::Again(_) => {}
    }
    accepted
}

/// The messages of the thread with those of the request.
fn conversation(server: Server, state: &ThreadState, input: &RunInput) -> Conversation {
    // Messages that only the server knows come first: the client may send only its new messages.
    let mut conversation =
        if server == Server::Store { state.conversation.clone() } else { Conversation::default() };
    let new = conversation.new_of(&input.messages);
    conversation.messages.extend(new.into_iter().filter(|message| message.role() != "activity"));
    conversation
}

fn begin(
    server: Server,
    input: &RunInput,
    traps: &Traps,
    waiting: Option<&Arc<Waiting>>,
) -> (Beginning, Option<Duration>) {
    let rejected = |rejection| (Beginning::Rejected(rejection), None);
    if server == Server::Store && input.asks_for_thread() {
        return (Beginning::Hydration, None);
    }
    if let Some(waiting) = waiting {
        let interrupts = waiting.interrupts().next().is_some();
        let answered = waiting.is_answered(input);
        if answered && (interrupts || !input.has_new_words()) {
            return match waiting.take(input, crate::time::now()) {
                Ok(taken) => (Beginning::Answers(Arc::clone(waiting), taken), None),
                Err(rejection) => rejected(rejection),
            };
        }
        if interrupts && traps.has(&LOST_MESSAGE) {
            return (Beginning::Again(Arc::clone(waiting)), None);
        }
        if interrupts && !traps.has(&DROP_PENDING) {
            return rejected(Rejection::required());
        }
    } else if let Some(entry) = input.resume.first() {
        return rejected(Rejection::not_found(&entry.interrupt));
    }
    if input.messages.is_empty() {
        let message = "No message history, user prompt, or instructions provided";
        return rejected(Rejection::new("NO_MESSAGES", message));
    }
    if let Some(results) = results_of_strangers(input) {
        return (Beginning::Script(scripts::steps(saying(&results))), None);
    }
    let (acts, beat) = scripts::choose(input);
    (Beginning::Script(acts), beat)
}

/// The results of tools that are unknown to this server: they belong to a conversation that began elsewhere.
fn results_of_strangers(input: &RunInput) -> Option<String> {
    let tools = input.messages.iter().rev().take_while(|message| message.role() == "tool");
    let mut said: Vec<String> = tools.map(Message::text).collect();
    said.reverse();
    (!said.is_empty()).then(|| format!("Tool said: {}.", said.join(" | ")))
}
