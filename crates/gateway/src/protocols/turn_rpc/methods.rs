//! Requests: what is wrong with them, what was planned for them, and the methods that they go to.

use std::sync::Arc;

use serde_json::{Value, json};

use super::asked::Asked;
use super::envelope::{Failure, Malformed, Request, error};
use super::peer::Peer;
use super::reply::Reply;
use super::thread::App;
use super::traps::LOST_RESPONSE;
use super::{PATH, SOCKETS, thread_calls, timeline, turn_calls, workspace};
use crate::faults::{Ending, Fault, Faults, On, OpenStream, SentFrame, View, traps_of};

/// The longest frame that the journal keeps as received.
const LONGEST_KEPT: usize = 64 * 1024;

/// Answers a frame of text.
pub(super) fn answer(app: &App, peer: &Arc<Peer>, open: &OpenStream, text: &str) {
    let request = match Request::parse(text) {
        Ok(request) => request,
        Err(Malformed { id, failure }) => {
            let place = app.faults.plans.note_frame(SOCKETS, &view("", None), None, sent(peer, text));
            app.faults.plans.answered_frame(&place, Some(failure.code));
            return peer.outbox.send(error(id.as_deref(), &failure));
        }
    };
    // Two methods name it in another case than the others.
    let thread = request.text("thread_id").or_else(|| request.text("threadId")).map(str::to_owned);
    let view = view(&request.method, thread.clone());
    let planned = app.faults.plans.take(&view);
    let fault = planned.as_ref().map(|faults| faults.text.as_str());
    let note = |session: &str| app.faults.plans.note_frame(session, &view, fault, sent(peer, text));
    let mut places = vec![note(SOCKETS)];
    places.extend(thread.as_deref().map(note));
    let faults = planned.map(|Faults { list, .. }| list).unwrap_or_default();
    if faults.iter().any(concerns_frames) {
        peer.outbox.apply(faults.clone());
    }
    let of_peer = peer.faults.iter().filter(|fault| view.on == Some(On::Create) && is_lost_response(fault));
    let reply = Reply {
        state: Arc::clone(&app.faults),
        peer: Arc::clone(peer),
        id: request.id.clone(),
        places,
        faults: faults.iter().chain(of_peer).cloned().collect(),
    };
    if reply.is_refused() {
        return peer.outbox.end(Ending::Reset);
    }
    if let Some(failure) = reply.instead() {
        return reply.fail(&failure);
    }
    dispatch(&Asked { app, peer, open, request, faults }, reply);
}

fn dispatch(asked: &Asked<'_>, reply: Reply) {
    match asked.request.method.as_str() {
        "workspace/default" => reply.ok(workspace::default()),
        "workspace/list" => reply.ok(workspace::list()),
        "thread/start" => thread_calls::start(asked, reply),
        "thread/get" => reply.answer(thread_calls::get(asked)),
        "thread/history" => reply.answer(thread_calls::history(asked)),
        "thread/unsubscribe" => thread_calls::unsubscribe(asked, reply),
        "turn/start" => turn_calls::start(asked, reply),
        "turn/cancel" => reply.answer(turn_calls::cancel(asked)),
        "turn/get" => reply.answer(turn_calls::get(asked)),
        "turn/items" => reply.answer(turn_calls::items(asked)),
        "turn/timeline" => reply.answer(timeline::timeline(asked)),
        other => reply.fail(&Failure::no_method(other)),
    }
}

/// A request as schedules of faults see it.
fn view(method: &str, thread: Option<String>) -> View {
    let on = match method {
        "thread/start" => Some(On::Subscribe),
        "thread/get" => Some(On::Session),
        "thread/history" => Some(On::SessionEvents),
        "turn/start" => Some(On::Create),
        "turn/cancel" => Some(On::Cancel),
        "turn/get" => Some(On::Turn),
        "turn/items" | "turn/timeline" => Some(On::TurnEvents),
        _ => None,
    };
    View {
        method: method.to_owned(),
        path: PATH.to_owned(),
        session: thread,
        on,
        streaming: matches!(on, Some(On::Create | On::Subscribe)),
        after: None,
    }
}

/// Whether a fault concerns the frames that follow a request.
fn concerns_frames(fault: &Fault) -> bool {
    !matches!(
        fault,
        Fault::Instead(_) | Fault::LateStatus(_) | Fault::Lost | Fault::SlowHead(_) | Fault::Trap(_)
    )
}

fn is_lost_response(fault: &Fault) -> bool {
    traps_of([fault]).has(&LOST_RESPONSE)
}

/// A frame for the journal: as JSON if it is JSON, else as text.
fn sent(peer: &Peer, text: &str) -> SentFrame {
    let frame = if text.len() > LONGEST_KEPT {
        json!(format!("{} bytes", text.len()))
    } else {
        serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
    };
    SentFrame { socket: peer.number, frame, code: None }
}
