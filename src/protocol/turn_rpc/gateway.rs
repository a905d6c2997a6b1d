//! Calls → messages of the gateway (sections 1 to 4).

use crate::error::Result;
use crate::json::{Object, Value};
use crate::protocol::Call;
use crate::protocol::body::page;
use crate::protocol::fields::{put, with_text};
use crate::protocol::options::{option_error, unsupported};
use crate::rpc::{Message, Messages};

use super::Dialect;
use super::input;
use super::params::{Params, renamed};

/// What an agent is here: a thread's mode.
const MODES: [&str; 2] = ["Chat", "Agent"];

/// What a session is made with, by the names of callers and of the wire.
const SESSION_OPTIONS: [(&str, &str); 9] = [
    ("workspaceId", "workspace_id"),
    ("model", "model"),
    ("modelProvider", "model_provider"),
    ("mode", "mode"),
    ("sandbox", "sandbox"),
    ("originKind", "origin_kind"),
    ("sidebarVisibility", "sidebar_visibility"),
    ("agentNickname", "agent_nickname"),
    ("agentRole", "agent_role"),
];

/// What a turn is started with besides its input.
const TURN_OPTIONS: [(&str, &str); 5] = [
    ("model", "model"),
    ("modelProvider", "model_provider"),
    ("mode", "mode"),
    ("sandboxPolicy", "sandbox_policy"),
    ("capabilities", "capabilities"),
];

/// What `call` says.
pub(super) fn messages(call: Call, params: &Object<'_>) -> Result<Messages> {
    match call {
        Call::Connect | Call::Ping => Ok(Messages::request("workspace/default", "{}".to_owned())),
        Call::CreateSession => create(&Params::of(params, "id agent_name title session_options")?),
        Call::GetSession => of_thread("thread/get", &Params::of(params, "")?),
        Call::ListTurns => of_thread("thread/get", &Params::of(params, "limit page_token order")?),
        Call::ListSessionEvents => {
            of_thread("thread/history", &Params::of(params, "limit page_token order")?)
        }
        Call::CreateTurn | Call::CreateTurnStream => start(&Params::of(params, START)?),
        Call::SubscribeTurn => resume(&Params::of(params, "turn_id after_sequence_number")?),
        Call::GetTurn => of_turn("turn/get", &Params::of(params, "turn_id")?),
        Call::ListTurnEvents => {
            let params = Params::of(params, "turn_id limit page_token order")?;
            let (thread, turn) = (params.id("session_id")?, params.id("turn_id")?);
            Ok(Messages {
                thread: thread.to_owned(),
                list: vec![timeline(thread, turn)],
                ..Messages::default()
            })
        }
        Call::CancelTurn => {
            let params = Params::of(params, "turn_id")?;
            // Only those may who hear of the thread (section 4).
            let subscribe = Some(subscription(&params)?);
            Ok(Messages { subscribe, remakes: true, ..of_turn("turn/cancel", &params)? })
        }
        _ => Err(unsupported()),
    }
}

const START: &str = "agent_name turn_id input previous_turn_id turn_options";

/// The agents: the modes in which a thread can be.
pub(super) fn modes<'a>() -> Value<'a> {
    page(MODES.map(|mode| with_text("name", mode).into()).into(), Value::Null)
}

fn create(params: &Params<'_>) -> Result<Messages> {
    let thread = params.id("id")?;
    let request = Messages::request("thread/start", made(thread, params, workspace(params))?);
    Ok(Messages { thread: thread.to_owned(), subscribes: true, ..request })
}

/// What makes a thread, by what a session is created with.
fn made(thread: &str, params: &Params<'_>, workspace: Result<&str>) -> Result<String> {
    let options = renamed("session_options", params.options("session_options")?, &SESSION_OPTIONS)?;
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
    Ok(start.to_json())
}

fn workspace<'p>(params: &'p Params<'_>) -> Result<&'p str> {
    let own = params.term("workspace_id");
    let workspace = if own.is_empty() { params.connection("workspace_id") } else { own };
    if workspace.is_empty() {
        return Err(option_error("connection", " has no workspace: the server named none"));
    }
    Ok(workspace)
}

/// What makes a connection hear of a thread: to start it, also if it is known (section 8).
fn subscription(params: &Params<'_>) -> Result<Message> {
    let mut start = with_text("thread_id", params.id("session_id")?);
    put(&mut start, "workspace_id", workspace(params)?);
    Ok(Message::Request { method: "thread/start", params: start.to_json() })
}

fn start(params: &Params<'_>) -> Result<Messages> {
    let thread = params.id("session_id")?;
    let mut start = with_text("thread_id", thread);
    put(&mut start, "turn_id", params.id("turn_id")?);
    start.set("input", input::parts(Dialect::Gateway, params.get("input"))?.into());
    for (name, value) in renamed("turn_options", params.options("turn_options")?, &TURN_OPTIONS)? {
        start.insert(name, value);
    }
    let creation = params.creation();
    let subscribe = match &creation {
        // The server may not have kept a thread in which nothing was said yet: it is made as it was before.
        Some(creation) => {
            let params = made(thread, creation, workspace(params))?;
            Message::Request { method: "thread/start", params }
        }
        None => subscription(params)?,
    };
    Ok(Messages {
        thread: thread.to_owned(),
        subscribe: Some(subscribe),
        remakes: creation.is_none(),
        ..Messages::request("turn/start", start.to_json())
    })
}

/// First the connection hears of the thread, then it reads what it has missed (section 8).
fn resume(params: &Params<'_>) -> Result<Messages> {
    let subscription = subscription(params)?;
    let mut messages = of_turn("turn/get", params)?;
    messages.list.insert(0, subscription);
    messages.list.extend(of_turn("turn/items", params)?.list);
    messages.list.push(timeline(params.id("session_id")?, params.id("turn_id")?));
    messages.subscribes = true;
    messages.remakes = true;
    Ok(messages)
}

/// Asks for what a turn and the tasks in it have brought.
pub(super) fn timeline(thread: &str, turn: &str) -> Message {
    let mut params = with_text("threadId", thread);
    put(&mut params, "turnId", turn);
    params.set("composeTasks", true.into());
    Message::Request { method: "turn/timeline", params: params.to_json() }
}

fn of_thread(method: &'static str, params: &Params<'_>) -> Result<Messages> {
    let thread = params.id("session_id")?;
    let request = Messages::request(method, with_text("thread_id", thread).to_json());
    Ok(Messages { thread: thread.to_owned(), ..request })
}

fn of_turn(method: &'static str, params: &Params<'_>) -> Result<Messages> {
    let thread = params.id("session_id")?;
    let mut own = with_text("thread_id", thread);
    put(&mut own, "turn_id", params.id("turn_id")?);
    Ok(Messages { thread: thread.to_owned(), ..Messages::request(method, own.to_json()) })
}
