//! The required types of events' fields (sections 1.6 and 3.2), as tables.
//!
//! A missing field is accepted if the event still makes sense without it. A field of the wrong type makes the whole
//! event unknown: guessing would invent content.

use crate::error::sentence;
use crate::event::EventKind;
use crate::json::{Object, Value};

/// Why an object does not fit its type.
pub(super) type Problem = String;

/// The required type of a field. `null` equals missing.
enum Shape {
    Text,
    Count,
    Flag,
    /// Below [`MAX_TOOL_CALLS`], and never missing.
    Index,
    /// Text, or a list of parts.
    Content,
    Object(&'static [Field]),
    /// Objects; `null` between them is a hole.
    List(&'static [Field]),
    /// The state of a turn that has ended.
    Terminal,
    /// An object of any fields.
    Fields,
}

struct Field(&'static str, Shape, Need);

#[derive(PartialEq)]
enum Need {
    Required,
    Optional,
}

use Need::{Optional, Required};

/// The most tool calls in one message. Calls are padded up to a delta's index, so a wild index would need far too much
/// memory.
pub(super) const MAX_TOOL_CALLS: u32 = 1024;

const fn text(name: &'static str) -> Field {
    Field(name, Shape::Text, Optional)
}

const fn required(name: &'static str) -> Field {
    Field(name, Shape::Text, Required)
}

const fn object(name: &'static str, fields: &'static [Field]) -> Field {
    Field(name, Shape::Object(fields), Optional)
}

const fn list(name: &'static str, fields: &'static [Field]) -> Field {
    Field(name, Shape::List(fields), Optional)
}

const fn count(name: &'static str) -> Field {
    Field(name, Shape::Count, Optional)
}

const TOOL_INFO: &[Field] = &[
    text("type"),
    text("server_id"),
    text("server_name"),
    text("name"),
    Field("is_deferred", Shape::Flag, Optional),
];
const FUNCTION: &[Field] = &[text("name"), text("arguments")];
const PROVIDER_FIELDS: Field = Field("provider_specific_fields", Shape::Fields, Optional);
const TOOL_CALL: &[Field] = &[
    required("id"),
    text("type"),
    object("function", FUNCTION),
    object("tool_info", TOOL_INFO),
    PROVIDER_FIELDS,
];
const TOOL_CALL_DELTA: &[Field] = &[
    Field("index", Shape::Index, Required),
    text("id"),
    text("type"),
    object("function", FUNCTION),
    object("tool_info", TOOL_INFO),
    PROVIDER_FIELDS,
];
const USAGE: &[Field] = &[
    count("input_tokens"),
    count("output_tokens"),
    count("cache_read_tokens"),
    count("cache_write_tokens"),
    object(
        "input_tokens_breakdown",
        &[
            count("harness"),
            count("skills"),
            count("instructions"),
            count("tool_definitions"),
            count("messages"),
        ],
    ),
];
/// Messages are merged by id; without one they would be lost.
const MESSAGE: &[Field] = &[
    required("id"),
    required("thread_id"),
    text("created_at"),
    Field("content", Shape::Content, Optional),
    text("name"),
    text("refusal"),
    text("reasoning_content"),
    list("tool_calls", TOOL_CALL),
    text("finish_reason"),
    object("usage", USAGE),
];
/// Inside a turn's or thread's state; some servers send no id there.
const OUTPUT: &[Field] = &[
    text("id"),
    text("thread_id"),
    Field("content", Shape::Content, Optional),
    text("reasoning_content"),
    list("tool_calls", TOOL_CALL),
    text("finish_reason"),
];
const MESSAGE_DELTA: &[Field] = &[
    required("id"),
    required("thread_id"),
    text("created_at"),
    text("content"),
    text("refusal"),
    text("reasoning_content"),
    list("tool_calls", TOOL_CALL_DELTA),
    text("finish_reason"),
    object("usage", USAGE),
];
const TOOL_RESPONSE: &[Field] =
    &[text("id"), required("thread_id"), text("created_at"), required("tool_call_id"), required("content")];
const TOOLS_REQUIRED: &[Field] = &[
    text("id"),
    required("thread_id"),
    text("created_at"),
    list("tool_calls", &[required("id"), text("source_event_id")]),
];
const PARENT: &[Field] = &[required("thread_id"), required("tool_call_id")];
const THREAD_CREATED: &[Field] = &[
    text("id"),
    required("thread_id"),
    text("created_at"),
    text("title"),
    object("parent", PARENT),
    object("agent_info", &[text("type"), text("name"), text("input"), text("model")]),
];
const THREAD_DONE: &[Field] = &[
    text("id"),
    required("thread_id"),
    text("created_at"),
    text("title"),
    object("parent", PARENT),
    Field("state", Shape::Object(&[required("status"), text("error"), object("output", OUTPUT)]), Required),
];
const MCP_INITIALIZE: &[Field] = &[
    text("id"),
    required("thread_id"),
    text("created_at"),
    list("mcp_servers", &[text("id"), text("name"), text("session_id"), text("transport_type")]),
];
const MCP_AUTH_REQUIRED: &[Field] = &[
    text("id"),
    text("thread_id"),
    text("created_at"),
    list("mcp_servers", &[text("id"), text("name"), text("auth_url")]),
];
const SANDBOX_CREATED: &[Field] =
    &[text("id"), text("thread_id"), text("created_at"), required("sandbox_id")];
const TURN_CREATED: &[Field] = &[
    text("id"),
    required("turn_id"),
    text("previous_turn_id"),
    text("created_at"),
    list("input", &[required("type")]),
];
const TURN_DONE: &[Field] = &[text("id"), text("created_at"), Field("state", Shape::Terminal, Required)];
/// Checks the fields of an event.
pub(super) fn check(kind: EventKind, event: &Object<'_>) -> Result<(), Problem> {
    let fields = match kind {
        EventKind::TurnCreated => TURN_CREATED,
        EventKind::TurnDone => TURN_DONE,
        EventKind::ModelMessage => MESSAGE,
        EventKind::ModelMessageDelta => MESSAGE_DELTA,
        EventKind::ToolResponse => TOOL_RESPONSE,
        EventKind::ThreadCreated => THREAD_CREATED,
        EventKind::ThreadDone => THREAD_DONE,
        EventKind::McpInitialize => MCP_INITIALIZE,
        EventKind::McpAuthRequired => MCP_AUTH_REQUIRED,
        EventKind::SandboxCreated => SANDBOX_CREATED,
        EventKind::ToolApprovalRequired | EventKind::ToolResponseRequired => TOOLS_REQUIRED,
        _ => return Ok(()),
    };
    check_fields(event, fields)
}

fn check_fields(object: &Object<'_>, fields: &[Field]) -> Result<(), Problem> {
    for Field(name, shape, need) in fields {
        match object.get(name).filter(|value| !value.is_null()) {
            Some(value) => check_value(name, value, shape)?,
            None if *need == Required => return Err(sentence(&["`", name, "` is missing"])),
            None => {}
        }
    }
    Ok(())
}

fn check_value(name: &str, value: &Value<'_>, shape: &Shape) -> Result<(), Problem> {
    let (fits, expected) = match shape {
        Shape::Text => (value.is_string(), "a string"),
        Shape::Count => (value.as_u64().is_some(), "a whole number"),
        Shape::Flag => (value.as_bool().is_some(), "true or false"),
        Shape::Index => {
            let fits = value.as_u64().is_some_and(|index| index < u64::from(MAX_TOOL_CALLS));
            (fits, "a whole number below 1024")
        }
        Shape::Content => (is_content(value), "a string or a list of text and refusal parts"),
        Shape::Fields => (value.as_object().is_some(), "an object"),
        Shape::Object(fields) => match value.as_object() {
            Some(object) => return check_fields(object, fields),
            None => (false, "an object"),
        },
        Shape::Terminal => match value.as_object() {
            Some(state) => return check_terminal(state),
            None => (false, "an object"),
        },
        Shape::List(fields) => match value.as_array() {
            Some(items) => {
                for item in items {
                    match item {
                        Value::Null => {}
                        Value::Object(object) => check_fields(object, fields)?,
                        _ => return Err(wrong(name, "a list of objects")),
                    }
                }
                (true, "")
            }
            None => (false, "a list of objects"),
        },
    };
    if fits { Ok(()) } else { Err(wrong(name, expected)) }
}

/// Its status is enough: an ended turn must be recognized as ended, whatever else is in its state.
fn check_terminal(state: &Object<'_>) -> Result<(), Problem> {
    match state.text("status") {
        "done" | "cancelled" | "error" => Ok(()),
        _ => Err("`state` is not that of an ended turn".to_owned()),
    }
}

fn is_content(value: &Value<'_>) -> bool {
    let is_part = |part: &Value<'_>| {
        part.as_object().is_some_and(|part| match part.text("type") {
            "text" => part.get("text").is_some_and(Value::is_string),
            "refusal" => part.get("refusal").is_some_and(Value::is_string),
            _ => false,
        })
    };
    value.is_string() || value.as_array().is_some_and(|parts| parts.iter().all(is_part))
}

fn wrong(name: &str, expected: &str) -> Problem {
    sentence(&["`", name, "` is not ", expected])
}
