//! Calls → messages of Codex app-server (section 14).

use crate::error::Result;
use crate::json::{Object, Value};
use crate::protocol::Call;
use crate::protocol::fields::{put, with_text};
use crate::protocol::options::{option_error, unsupported};
use crate::rpc::{Message, Messages};

use super::params::Params;
use super::{Dialect, decision, input};

/// The agent that is whatever model the server is set to; every other agent is a model.
const DEFAULT_AGENT: &str = "codex";

/// What `call` says.
pub(super) fn messages(call: Call, params: &Object<'_>) -> Result<Messages> {
    match call {
        Call::Connect => Ok(connect()),
        // It changes nothing, and the answer is short.
        Call::Ping => Ok(Messages::request("thread/loaded/list", "{}".to_owned())),
        Call::CreateSession => create(&Params::of(params, "agent_name session_options")?),
        Call::ListAgents => Ok(Messages::request("model/list", "{}".to_owned())),
        Call::ListSessions => Ok(list(&Params::of(params, "agent_name limit page_token window_start")?)),
        Call::GetSession => read(&Params::of(params, "")?, false),
        Call::ListTurns | Call::ListSessionEvents => {
            read(&Params::of(params, "limit page_token order")?, true)
        }
        Call::ListNewestTurns => newest(&Params::of(params, "limit")?),
        Call::GetTurn => read(&Params::of(params, "turn_id")?, true),
        Call::ListTurnEvents => read(&Params::of(params, "turn_id limit page_token order")?, true),
        Call::CreateTurn | Call::CreateTurnStream => {
            start(&Params::of(params, "agent_name input previous_turn_id turn_options")?)
        }
        Call::SubscribeTurn => {
            let params = Params::of(params, "turn_id after_sequence_number")?;
            let thread = params.id("session_id")?;
            // Not with all its turns, which would be one message, however long the thread is.
            let list = vec![resume(thread), newest_turn(thread, "")];
            Ok(Messages { thread: thread.to_owned(), subscribes: true, list, ..Messages::default() })
        }
        Call::CancelTurn => {
            let params = Params::of(params, "turn_id")?;
            let mut own = with_text("threadId", params.id("session_id")?);
            put(&mut own, "turnId", params.id("turn_id")?);
            let request = Messages::request("turn/interrupt", own.to_json());
            Ok(Messages { thread: own.text("threadId").to_owned(), ..request })
        }
        Call::SteerTurn => steer(&Params::of(params, "turn_id input")?),
        Call::AnswerTurn => answer(&Params::of(params, "turn_id input")?),
        Call::DeleteSession => of_thread("thread/delete", &Params::of(params, "")?),
        Call::RenameSession => {
            let params = Params::of(params, "title")?;
            let title = params.get("title").and_then(Value::as_str);
            let title = title.ok_or_else(|| option_error("title", " must be a string"))?;
            let mut own = with_text("threadId", params.id("session_id")?);
            put(&mut own, "name", title);
            let request = Messages::request("thread/name/set", own.to_json());
            Ok(Messages { thread: own.text("threadId").to_owned(), ..request })
        }
        _ => Err(unsupported()),
    }
}

/// Makes the connection hear of a thread.
pub(super) fn resume(thread: &str) -> Message {
    let mut params = with_text("threadId", thread);
    params.set("excludeTurns", true.into());
    Message::Request { method: "thread/resume", params: params.to_json() }
}

/// Asks for the newest turn of a thread, with its items; or for the one before the turn that the cursor names.
pub(super) fn newest_turn(thread: &str, cursor: &str) -> Message {
    let mut params = with_text("threadId", thread);
    params.set("limit", 1.into());
    put(&mut params, "sortDirection", "desc");
    put(&mut params, "itemsView", "full");
    if !cursor.is_empty() {
        put(&mut params, "cursor", cursor);
    }
    Message::Request { method: "thread/turns/list", params: params.to_json() }
}

/// Asks which threads a thread's sub-agents have, and theirs, newest first. Without a search through all that the server
/// keeps on its disk.
pub(super) fn sub_agents(thread: &str) -> Message {
    let mut params = with_text("ancestorThreadId", thread);
    params.set("limit", 100.into());
    params.set("useStateDbOnly", true.into());
    Message::Request { method: "thread/list", params: params.to_json() }
}

/// Asks for a thread with all its turns.
pub(super) fn whole_thread(thread: &str) -> Message {
    let mut params = with_text("threadId", thread);
    params.set("includeTurns", true.into());
    Message::Request { method: "thread/read", params: params.to_json() }
}

fn connect() -> Messages {
    let mut info = with_text("name", "turnwire");
    put(&mut info, "title", "turnwire");
    put(&mut info, "version", env!("CARGO_PKG_VERSION"));
    let mut capabilities = Object::new();
    // Without it, `excludeTurns` is refused, and tools of the client's own are.
    capabilities.set("experimentalApi", true.into());
    let mut params = Object::new();
    params.set("clientInfo", info.into());
    params.set("capabilities", capabilities.into());
    let mut messages = Messages::request("initialize", params.to_json());
    messages.list.push(Message::Notification { method: "initialized", params: "{}".to_owned() });
    messages
}

fn create(params: &Params<'_>) -> Result<Messages> {
    let mut start = Object::new();
    let model = params.text("agent_name");
    if !matches!(model, "" | DEFAULT_AGENT) {
        put(&mut start, "model", model);
    }
    for (name, value) in params.options("session_options")? {
        start.insert(name, value);
    }
    Ok(Messages { subscribes: true, ..Messages::request("thread/start", start.to_json()) })
}

fn list(params: &Params<'_>) -> Messages {
    let mut list = Object::new();
    for (name, from) in [("limit", "limit"), ("cursor", "page_token")] {
        if let Some(value) = params.get(from) {
            list.set(name, value.clone());
        }
    }
    Messages::request("thread/list", list.to_json())
}

/// The thread, or with it all its turns: the server calls that deprecated for threads of its newer format, and answers
/// it for both. Before its first turn a thread has none that could be read.
fn read(params: &Params<'_>, with_turns: bool) -> Result<Messages> {
    let mut own = with_text("threadId", params.id("session_id")?);
    own.set("includeTurns", with_turns.into());
    let request = Messages::request("thread/read", own.to_json());
    Ok(Messages { thread: own.text("threadId").to_owned(), ..request })
}

/// The newest turn, without its items. It need not be loaded for that, as it must be to be heard of.
fn newest(params: &Params<'_>) -> Result<Messages> {
    let mut own = with_text("threadId", params.id("session_id")?);
    own.set("limit", 1.into());
    put(&mut own, "sortDirection", "desc");
    let request = Messages::request("thread/turns/list", own.to_json());
    Ok(Messages { thread: own.text("threadId").to_owned(), ..request })
}

fn start(params: &Params<'_>) -> Result<Messages> {
    let thread = params.id("session_id")?;
    let mut start = with_text("threadId", thread);
    start.set("input", input::parts(Dialect::Codex, params.get("input"))?.into());
    for (name, value) in params.options("turn_options")? {
        if start.get(&name).is_some() {
            return Err(option_error("turn_options", &[" must not have a `", &name, "`"].concat()));
        }
        start.insert(name, value);
    }
    Ok(Messages {
        thread: thread.to_owned(),
        subscribe: Some(resume(thread)),
        ..Messages::request("turn/start", start.to_json())
    })
}

/// More input for the turn of this id. Where that one does not run the server refuses, so that none is begun by it.
fn steer(params: &Params<'_>) -> Result<Messages> {
    let mut own = with_text("threadId", params.id("session_id")?);
    put(&mut own, "expectedTurnId", params.id("turn_id")?);
    own.set("input", input::parts(Dialect::Codex, params.get("input"))?.into());
    let request = Messages::request("turn/steer", own.to_json());
    Ok(Messages { thread: own.text("threadId").to_owned(), ..request })
}

/// Responses to the server's requests.
fn answer(params: &Params<'_>) -> Result<Messages> {
    let items = params.get("input").and_then(Value::as_array).unwrap_or_default();
    let list = items.iter().enumerate().map(|(at, item)| decision::response(at, item));
    let thread = params.id("session_id")?.to_owned();
    Ok(Messages { thread, list: list.collect::<Result<_>>()?, ..Messages::default() })
}

fn of_thread(method: &'static str, params: &Params<'_>) -> Result<Messages> {
    let thread = params.id("session_id")?;
    let request = Messages::request(method, with_text("threadId", thread).to_json());
    Ok(Messages { thread: thread.to_owned(), ..request })
}
