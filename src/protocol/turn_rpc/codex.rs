//! Calls → messages of Codex app-server (section 14).

use crate::error::{Result, sentence};
use crate::json::{Object, Value};
use crate::protocol::Call;
use crate::protocol::calls::{Calls, calls};
use crate::protocol::fields::{put, with_text};
use crate::protocol::options::option_error;
use crate::rpc::{Message, Messages};
use crate::text::cut;

use super::params::{Params, about};
use super::{Dialect, decision, input};

/// The agent for the server's default model. The name of every other agent is a model.
const DEFAULT_AGENT: &str = "codex";

/// The calls, each with its method and the names of what it takes. A ping changes nothing, and its response is short. The
/// newest turn is read without its items, and for that a thread need not be loaded, as it must be for a stream. The server
/// refuses to steer a turn that does not run, so that this starts none.
const CALLS: Calls = calls! {
    Connect "initialize",
    Ping "thread/loaded/list",
    ListAgents "model/list",
    CreateSession "thread/start agent_name session_options",
    ListSessions "thread/list agent_name limit page_token window_start",
    GetSession "thread/read",
    DeleteSession "thread/delete",
    RenameSession "thread/name/set title",
    ListTurns "thread/read limit page_token order",
    ListNewestTurns "thread/turns/list limit",
    ListSessionEvents "thread/read limit page_token order",
    CreateTurnStream "turn/start agent_name input previous_turn_id turn_options",
    CreateTurn "turn/start agent_name input previous_turn_id turn_options",
    SubscribeTurn "thread/resume turn_id after_sequence_number",
    GetTurn "thread/read turn_id",
    ListTurnEvents "thread/read turn_id limit page_token order",
    SteerTurn "turn/steer turn_id input",
    AnswerTurn "- turn_id input",
    CancelTurn "turn/interrupt turn_id",
};

/// What `call` says.
pub(super) fn messages(call: Call, params: &Object<'_>) -> Result<Messages> {
    let (method, names) = cut(CALLS.line(call)?, b' ');
    let params = &Params::of(params, names)?;
    match call {
        Call::Connect => return Ok(connect()),
        Call::Ping | Call::ListAgents => return Ok(Messages::request(method, "{}".to_owned())),
        Call::CreateSession => return create(params),
        Call::ListSessions => return Ok(list(params)),
        _ => {}
    }
    let thread = params.id("session_id")?;
    let mut own = with_text("threadId", thread);
    match call {
        Call::GetSession
        | Call::ListTurns
        | Call::ListSessionEvents
        | Call::GetTurn
        | Call::ListTurnEvents => {
            // Read with all turns: deprecated for threads in the newer format, but it works for both formats. A
            // thread without turns cannot be read.
            own.set("includeTurns", (call != Call::GetSession).into());
        }
        Call::ListNewestTurns => {
            own.set("limit", 1.into());
            put(&mut own, "sortDirection", "desc");
        }
        Call::SubscribeTurn => {
            // Without the turns, which would come in one message, however many they are.
            let list = vec![resume(thread), newest_turn(thread, "")];
            return Ok(Messages { thread: thread.to_owned(), subscribes: true, list, ..Messages::default() });
        }
        Call::CancelTurn => put(&mut own, "turnId", params.id("turn_id")?),
        Call::SteerTurn => {
            put(&mut own, "expectedTurnId", params.id("turn_id")?);
            own.set("input", input::parts(Dialect::Codex, params.get("input"))?.into());
        }
        Call::AnswerTurn => return answer(thread, params),
        Call::DeleteSession => {}
        Call::RenameSession => {
            let title = params.get("title").and_then(Value::as_str);
            put(&mut own, "name", title.ok_or_else(|| option_error("title", " must be a string"))?);
        }
        _ => return start(thread, own, params),
    }
    Ok(about(thread, method, &own))
}

/// Subscribes the connection to a thread.
pub(super) fn resume(thread: &str) -> Message {
    let mut params = with_text("threadId", thread);
    params.set("excludeTurns", true.into());
    Message::Request { method: "thread/resume", params: params.to_json() }
}

/// Requests the newest turn of a thread, with its items; or the turn after the cursor.
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

/// Requests the list of threads below a thread, the newest first, without a search through the server's files.
pub(super) fn sub_agents(thread: &str) -> Message {
    let mut params = with_text("ancestorThreadId", thread);
    params.set("limit", 100.into());
    params.set("useStateDbOnly", true.into());
    Message::Request { method: "thread/list", params: params.to_json() }
}

/// Requests a thread with all its turns.
pub(super) fn whole_thread(thread: &str) -> Message {
    let mut params = with_text("threadId", thread);
    params.set("includeTurns", true.into());
    Message::Request { method: "thread/read", params: params.to_json() }
}

/// The greeting. The experimental API is required for `excludeTurns`, and for the client's own tools.
fn connect() -> Messages {
    const PARAMS: &str = concat!(
        r#"{"clientInfo":{"name":"turnwire","title":"turnwire","version":""#,
        env!("CARGO_PKG_VERSION"),
        r#""},"capabilities":{"experimentalApi":true}}"#
    );
    let mut messages = Messages::request("initialize", PARAMS.to_owned());
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

fn start<'a>(thread: &str, mut start: Object<'a>, params: &Params<'a>) -> Result<Messages> {
    start.set("input", input::parts(Dialect::Codex, params.get("input"))?.into());
    for (name, value) in params.options("turn_options")? {
        if start.contains(&name) {
            return Err(option_error("turn_options", &sentence(&[" must not have a `", &name, "`"])));
        }
        start.insert(name, value);
    }
    let mut messages = about(thread, "turn/start", &start);
    messages.subscribe = Some(resume(thread));
    Ok(messages)
}

/// The responses to requests of the server.
fn answer(thread: &str, params: &Params<'_>) -> Result<Messages> {
    let items = params.get("input").and_then(Value::as_array).unwrap_or_default();
    let mut messages = Messages { thread: thread.to_owned(), ..Messages::default() };
    for (at, item) in items.iter().enumerate() {
        messages.list.push(decision::response(at, item)?);
    }
    Ok(messages)
}
