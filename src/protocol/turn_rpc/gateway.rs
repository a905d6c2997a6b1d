//! Calls → messages of the gateway (sections 1 to 4).

use crate::error::Result;
use crate::json::{Object, Value};
use crate::protocol::Call;
use crate::protocol::body::page;
use crate::protocol::calls::{Calls, calls};
use crate::protocol::fields::{put, with_text};
use crate::protocol::options::option_error;
use crate::rpc::{Message, Messages};
use crate::text::cut;

use super::Dialect;
use super::input;
use super::params::{Params, about, renamed};

/// An agent is the mode of a thread.
const MODES: [&str; 2] = ["Chat", "Agent"];

/// The options of a new session, as on the wire.
const SESSION_OPTIONS: &str = "workspace_id, model, model_provider, mode, sandbox, origin_kind, \
    sidebar_visibility, agent_nickname, agent_role";

/// The options of a turn besides its input, as on the wire.
const TURN_OPTIONS: &str = "model, model_provider, mode, sandbox_policy, capabilities";

/// The calls, each with its method and the names of what it takes. A stream makes several requests.
const CALLS: Calls = calls! {
    Connect "workspace/default",
    Ping "workspace/default",
    CreateSession "thread/start id agent_name title session_options",
    GetSession "thread/get",
    ListTurns "thread/get limit page_token order",
    ListSessionEvents "thread/history limit page_token order",
    CreateTurnStream "turn/start agent_name turn_id input previous_turn_id turn_options",
    CreateTurn "turn/start agent_name turn_id input previous_turn_id turn_options",
    SubscribeTurn "turn/get turn_id after_sequence_number",
    GetTurn "turn/get turn_id",
    ListTurnEvents "turn/timeline turn_id limit page_token order",
    CancelTurn "turn/cancel turn_id",
};

/// What `call` says.
pub(super) fn messages(call: Call, params: &Object<'_>) -> Result<Messages> {
    let (method, names) = cut(CALLS.line(call)?, b' ');
    let params = &Params::of(params, names)?;
    match call {
        Call::Connect | Call::Ping => return Ok(Messages::request(method, "{}".to_owned())),
        Call::CreateSession => return create(params),
        _ => {}
    }
    let thread = params.id("session_id")?;
    let mut own = with_text("thread_id", thread);
    if matches!(call, Call::GetSession | Call::ListTurns | Call::ListSessionEvents) {
        return Ok(about(thread, method, &own));
    }
    let turn = params.id("turn_id")?;
    put(&mut own, "turn_id", turn);
    match call {
        Call::SubscribeTurn => resume(thread, turn, &own, params),
        Call::GetTurn => Ok(about(thread, method, &own)),
        Call::ListTurnEvents => Ok(Messages {
            thread: thread.to_owned(),
            list: vec![timeline(thread, turn)],
            ..Messages::default()
        }),
        Call::CancelTurn => {
            let mut messages = about(thread, method, &own);
            // Requires a subscription to the thread (section 4).
            messages.subscribe = Some(subscription(thread, params)?);
            messages.recreates_thread = true;
            Ok(messages)
        }
        _ => start(thread, own, params),
    }
}

/// The agents, which are the modes of threads.
pub(super) fn modes<'a>() -> Value<'a> {
    page(MODES.map(|mode| with_text("name", mode).into()).into(), Value::Null)
}

fn create(params: &Params<'_>) -> Result<Messages> {
    let thread = params.id("id")?;
    let mut messages = about(thread, "thread/start", &made(thread, params, workspace(params))?);
    messages.subscribes = true;
    Ok(messages)
}

/// The parameters of a new thread, from the options of the session.
fn made<'p>(thread: &str, params: &Params<'p>, workspace: Result<&str>) -> Result<Object<'p>> {
    let options = renamed("session_options", params.options("session_options")?, SESSION_OPTIONS)?;
    let mut start = Object::new();
    put(&mut start, "thread_id", thread);
    let mode = params.text("agent_name");
    if !mode.is_empty() {
        if !MODES.contains(&mode) {
            return Err(option_error("agent_name", " must be `Chat` or `Agent`"));
        }
        put(&mut start, "mode", mode);
    }
    if let Some(title) = params.get("title") {
        start.set("name", title.clone());
    }
    for (name, value) in options {
        start.insert(name, value);
    }
    if start.text("workspace_id").is_empty() {
        put(&mut start, "workspace_id", workspace?);
    }
    Ok(start)
}

fn workspace<'p>(params: &'p Params<'_>) -> Result<&'p str> {
    let own = params.term("workspace_id");
    let workspace = if own.is_empty() { params.connection("workspace_id") } else { own };
    if workspace.is_empty() {
        return Err(option_error("connection", " has no workspace: the server named none"));
    }
    Ok(workspace)
}

/// The message that subscribes the connection to a thread: a start, which also works for a known thread (section 8).
fn subscription(thread: &str, params: &Params<'_>) -> Result<Message> {
    let mut start = with_text("thread_id", thread);
    put(&mut start, "workspace_id", workspace(params)?);
    Ok(Message::Request { method: "thread/start", params: start.to_json() })
}

fn start<'a>(thread: &str, mut start: Object<'a>, params: &Params<'a>) -> Result<Messages> {
    start.set("input", input::parts(Dialect::Gateway, params.get("input"))?.into());
    for (name, value) in renamed("turn_options", params.options("turn_options")?, TURN_OPTIONS)? {
        start.insert(name, value);
    }
    let creation = params.creation();
    let mut messages = about(thread, "turn/start", &start);
    messages.recreates_thread = creation.is_none();
    messages.subscribe = Some(match &creation {
        // The server may have dropped a thread without turns. Then this creates it again with the same options.
        Some(creation) => {
            let params = made(thread, creation, workspace(params))?.to_json();
            Message::Request { method: "thread/start", params }
        }
        None => subscription(thread, params)?,
    });
    Ok(messages)
}

/// Subscribes to the thread, and then reads the missed part of the turn (section 8).
fn resume(thread: &str, turn: &str, own: &Object<'_>, params: &Params<'_>) -> Result<Messages> {
    let read = |method| Message::Request { method, params: own.to_json() };
    let list =
        vec![subscription(thread, params)?, read("turn/get"), read("turn/items"), timeline(thread, turn)];
    Ok(Messages {
        thread: thread.to_owned(),
        subscribe: None,
        subscribes: true,
        recreates_thread: true,
        list,
    })
}

/// Requests the data of a turn and its tasks.
pub(super) fn timeline(thread: &str, turn: &str) -> Message {
    let mut params = with_text("threadId", thread);
    put(&mut params, "turnId", turn);
    params.set("composeTasks", true.into());
    Message::Request { method: "turn/timeline", params: params.to_json() }
}
