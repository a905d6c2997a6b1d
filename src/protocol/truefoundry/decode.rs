//! JSON → events, type by type (sections 1.6 and 3.2). The JSON has been through
//! [`spelling`](super::spelling), so that one spelling is enough here.
//!
//! A field that is missing is forgiven wherever the event still makes sense without it. A field of the
//! wrong type makes the whole event unknown: guessing would invent content.

use crate::error::sentence;
use crate::event::{
    AgentInfo, CreatedBy, Event, McpAuthRequired, McpInitialize, McpServer, McpServerAuth,
    ModelContent, ModelContentPart, ModelMessage, ModelMessageDelta, ParentCall,
    RequiredActionEvent, RunningState, SandboxCreated, Subject, TerminalState, ThreadCreated,
    ThreadDone, ThreadState, ToolCall, ToolCallDelta, ToolCallFunction, ToolCallFunctionDelta,
    ToolCallRef, ToolInfo, ToolResponse, ToolsRequired, TurnCreated, TurnDone, TurnInputItem,
    TurnMetrics, TurnState, UnknownEvent, Usage, UsageBreakdown,
};
use crate::json::{Fields, Problem, Value, wrong};

/// Reads any event. What cannot be read is [`Event::Unknown`], with the reason if its type is known.
pub(super) fn event(json: &Value<'_>) -> Event {
    let kind = json.get("type").and_then(Value::as_str);
    let read = match kind {
        None => Err(Some("it has no `type`".to_owned())),
        Some(kind) => match Fields::of(json, "event").and_then(|fields| known(kind, fields)) {
            Ok(Some(event)) => Ok(event),
            Ok(None) => Err(None),
            Err(problem) => Err(Some(problem)),
        },
    };
    read.unwrap_or_else(|problem| {
        Event::Unknown(UnknownEvent {
            wire_type: kind.map(str::to_owned),
            raw: json.to_json(),
            problem,
        })
    })
}

fn known(kind: &str, fields: Fields<'_>) -> Result<Option<Event>, Problem> {
    Ok(Some(match kind {
        "turn.created" => Event::TurnCreated(turn_created(fields)?),
        "turn.done" => Event::TurnDone(turn_done(fields)?),
        "model.message" => Event::ModelMessage(message(fields)?),
        "model.message.delta" => Event::ModelMessageDelta(message_delta(fields)?),
        "tool.response" => Event::ToolResponse(tool_response(fields)?),
        "thread.created" => Event::ThreadCreated(thread_created(fields)?),
        "thread.done" => Event::ThreadDone(thread_done(fields)?),
        "mcp.initialize" => Event::McpInitialize(mcp_initialize(fields)?),
        "mcp.auth_required" => Event::McpAuthRequired(mcp_auth_required(fields)?),
        "sandbox.created" => Event::SandboxCreated(sandbox_created(fields)?),
        "tool.approval_required" => Event::ToolApprovalRequired(tools_required(fields)?),
        "tool.response_required" => Event::ToolResponseRequired(tools_required(fields)?),
        _ => return Ok(None),
    }))
}

/// Messages are merged by id and belong to a thread; without an id they would be lost.
fn message(fields: Fields<'_>) -> Result<ModelMessage, Problem> {
    Ok(ModelMessage {
        id: fields.text("id")?,
        thread_id: fields.text("thread_id")?,
        created_at: fields.maybe_text("created_at")?,
        content: fields.value("content").map(content).transpose()?,
        name: fields.maybe_text("name")?,
        refusal: fields.maybe_text("refusal")?,
        reasoning_content: fields.maybe_text("reasoning_content")?,
        tool_calls: tool_calls(fields)?,
        finish_reason: fields.maybe_text("finish_reason")?,
        usage: fields.object("usage", usage)?,
    })
}

/// The message inside a turn's or thread's state, which some servers give without `id`.
fn output(fields: Fields<'_>) -> Result<ModelMessage, Problem> {
    if fields.value("id").is_some() {
        return message(fields);
    }
    let content = fields.value("content").map(content).transpose()?;
    Ok(ModelMessage {
        content,
        ..ModelMessage::default()
    })
}

fn content(value: &Value<'_>) -> Result<ModelContent, Problem> {
    match value {
        Value::String(text) => Ok(ModelContent::Text(text.to_string())),
        Value::Array(parts) => parts
            .iter()
            .map(content_part)
            .collect::<Result<_, _>>()
            .map(ModelContent::Parts),
        _ => Err(wrong("content", "a string or an array")),
    }
}

fn content_part(value: &Value<'_>) -> Result<ModelContentPart, Problem> {
    let part = Fields::of(value, "content")?;
    match part.text("type")?.as_str() {
        "text" => Ok(ModelContentPart::Text {
            text: part.text("text")?,
        }),
        "refusal" => Ok(ModelContentPart::Refusal {
            refusal: part.text("refusal")?,
        }),
        other => Err(sentence(&[
            "`content` has a part of unknown type `",
            other,
            "`",
        ])),
    }
}

fn tool_calls(fields: Fields<'_>) -> Result<Vec<Option<ToolCall>>, Problem> {
    let read = |value: &Value<'_>| match value {
        Value::Null => Ok(None),
        value => tool_call(Fields::of(value, "tool_calls")?).map(Some),
    };
    fields.array("tool_calls")?.iter().map(read).collect()
}

fn tool_call(fields: Fields<'_>) -> Result<ToolCall, Problem> {
    let function = fields.object("function", |function| {
        Ok(ToolCallFunction {
            name: function.maybe_text("name")?.unwrap_or_default(),
            arguments: function.maybe_text("arguments")?.unwrap_or_default(),
        })
    })?;
    Ok(ToolCall {
        id: fields.text("id")?,
        r#type: fields
            .maybe_text("type")?
            .unwrap_or_else(|| "function".to_owned()),
        function: function.unwrap_or_default(),
        tool_info: tool_info(fields)?,
        provider_specific_fields: fields.raw_members("provider_specific_fields")?,
    })
}

fn message_delta(fields: Fields<'_>) -> Result<ModelMessageDelta, Problem> {
    Ok(ModelMessageDelta {
        id: fields.text("id")?,
        thread_id: fields.text("thread_id")?,
        created_at: fields.maybe_text("created_at")?,
        content: fields.maybe_text("content")?,
        refusal: fields.maybe_text("refusal")?,
        reasoning_content: fields.maybe_text("reasoning_content")?,
        tool_calls: fields.list("tool_calls", tool_call_delta)?,
        finish_reason: fields.maybe_text("finish_reason")?,
        usage: fields.object("usage", usage)?,
    })
}

fn tool_call_delta(fields: Fields<'_>) -> Result<ToolCallDelta, Problem> {
    let index = fields
        .value("index")
        .and_then(Value::as_u64)
        .and_then(|index| u32::try_from(index).ok());
    // Calls are padded up to the index, so that a wild one would take memory out of all proportion.
    let index = index
        .filter(|index| *index < MAX_TOOL_CALLS)
        .ok_or_else(|| wrong("index", "a whole number below 1024"))?;
    Ok(ToolCallDelta {
        index,
        id: fields.maybe_text("id")?,
        r#type: fields.maybe_text("type")?,
        function: fields.object("function", |function| {
            Ok(ToolCallFunctionDelta {
                name: function.maybe_text("name")?,
                arguments: function.maybe_text("arguments")?,
            })
        })?,
        tool_info: tool_info(fields)?,
        provider_specific_fields: fields.raw_members("provider_specific_fields")?,
    })
}

/// How many tool calls one message may have.
pub(super) const MAX_TOOL_CALLS: u32 = 1024;

fn tool_info(owner: Fields<'_>) -> Result<Option<ToolInfo>, Problem> {
    owner.object("tool_info", |info| {
        let name = info.maybe_text("name")?.unwrap_or_default();
        if info.maybe_text("type")?.as_deref() != Some("mcp") {
            return Ok(ToolInfo::System { name });
        }
        let server_id = info.maybe_text("server_id")?.unwrap_or_default();
        let server_name = info.maybe_text("server_name")?.unwrap_or_default();
        Ok(ToolInfo::Mcp {
            mcp_server_id: server_id.clone(),
            mcp_server_name: server_name.clone(),
            server_id,
            server_name,
            name,
            is_deferred: info.maybe_flag("is_deferred")?,
        })
    })
}

fn usage(fields: Fields<'_>) -> Result<Usage, Problem> {
    Ok(Usage {
        input_tokens: fields.count("input_tokens")?,
        output_tokens: fields.count("output_tokens")?,
        cache_read_tokens: fields.maybe_count("cache_read_tokens")?,
        cache_write_tokens: fields.maybe_count("cache_write_tokens")?,
        input_tokens_breakdown: fields.object("input_tokens_breakdown", |breakdown| {
            Ok(UsageBreakdown {
                harness: breakdown.count("harness")?,
                skills: breakdown.count("skills")?,
                instructions: breakdown.count("instructions")?,
                tool_definitions: breakdown.count("tool_definitions")?,
                messages: breakdown.count("messages")?,
            })
        })?,
    })
}

fn tool_response(fields: Fields<'_>) -> Result<ToolResponse, Problem> {
    Ok(ToolResponse {
        id: fields.maybe_text("id")?.unwrap_or_default(),
        thread_id: fields.text("thread_id")?,
        created_at: fields.maybe_text("created_at")?,
        tool_call_id: fields.text("tool_call_id")?,
        content: fields.text("content")?,
    })
}

fn tools_required(fields: Fields<'_>) -> Result<ToolsRequired, Problem> {
    Ok(ToolsRequired {
        id: fields.maybe_text("id")?.unwrap_or_default(),
        thread_id: fields.text("thread_id")?,
        created_at: fields.maybe_text("created_at")?,
        tool_calls: fields.list("tool_calls", |call| {
            let source_event_id = call.maybe_text("source_event_id")?.unwrap_or_default();
            Ok(ToolCallRef {
                id: call.text("id")?,
                event_id: source_event_id.clone(),
                source_event_id,
            })
        })?,
    })
}

fn thread_created(fields: Fields<'_>) -> Result<ThreadCreated, Problem> {
    Ok(ThreadCreated {
        id: fields.maybe_text("id")?.unwrap_or_default(),
        thread_id: fields.text("thread_id")?,
        created_at: fields.maybe_text("created_at")?,
        title: fields.maybe_text("title")?,
        parent: parent(fields)?,
        agent_info: fields.object("agent_info", |info| {
            Ok(AgentInfo {
                r#type: info
                    .maybe_text("type")?
                    .unwrap_or_else(|| "dynamic".to_owned()),
                name: info.maybe_text("name")?.unwrap_or_default(),
                input: info.maybe_text("input")?,
                model: info.maybe_text("model")?,
            })
        })?,
    })
}

fn parent(fields: Fields<'_>) -> Result<Option<ParentCall>, Problem> {
    fields.object("parent", |parent| {
        Ok(ParentCall {
            thread_id: parent.text("thread_id")?,
            tool_call_id: parent.text("tool_call_id")?,
        })
    })
}

fn thread_done(fields: Fields<'_>) -> Result<ThreadDone, Problem> {
    let state = fields
        .object("state", thread_state)?
        .ok_or_else(|| "`state` is missing".to_owned())?;
    let (status, message) = match &state {
        ThreadState::Done { .. } => ("done", None),
        ThreadState::Error { error, .. } => ("error", Some(error.clone())),
    };
    let (ThreadState::Done { output } | ThreadState::Error { output, .. }) = &state;
    Ok(ThreadDone {
        id: fields.maybe_text("id")?.unwrap_or_default(),
        thread_id: fields.text("thread_id")?,
        created_at: fields.maybe_text("created_at")?,
        title: fields.maybe_text("title")?,
        parent: parent(fields)?,
        status: status.to_owned(),
        output: output.clone(),
        message,
        state,
    })
}

fn thread_state(state: Fields<'_>) -> Result<ThreadState, Problem> {
    let output = state.object("output", output)?;
    match state.text("status")?.as_str() {
        "done" => Ok(ThreadState::Done { output }),
        // Whatever else ends a thread is not success.
        other => {
            let error = state
                .maybe_text("error")?
                .unwrap_or_else(|| other.to_owned());
            Ok(ThreadState::Error { error, output })
        }
    }
}

fn mcp_initialize(fields: Fields<'_>) -> Result<McpInitialize, Problem> {
    let mcp_servers = fields.list("mcp_servers", |server| {
        let name = server.maybe_text("name")?.unwrap_or_default();
        Ok(McpServer {
            id: server.maybe_text("id")?.unwrap_or_default(),
            mcp_server_name: name.clone(),
            name,
            session_id: server.maybe_text("session_id")?,
            transport_type: server.maybe_text("transport_type")?,
        })
    })?;
    Ok(McpInitialize {
        id: fields.maybe_text("id")?.unwrap_or_default(),
        thread_id: fields.text("thread_id")?,
        created_at: fields.maybe_text("created_at")?,
        content: mcp_servers.clone(),
        mcp_servers,
    })
}

fn mcp_auth_required(fields: Fields<'_>) -> Result<McpAuthRequired, Problem> {
    let mcp_servers = fields.list("mcp_servers", |server| {
        let name = server.maybe_text("name")?.unwrap_or_default();
        let thread = |value: &Value<'_>| value.as_str().map(str::to_owned);
        Ok(McpServerAuth {
            id: server.maybe_text("id")?.unwrap_or_default(),
            mcp_server_name: name.clone(),
            name,
            auth_url: server.maybe_text("auth_url")?.unwrap_or_default(),
            thread_ids: server
                .array("thread_ids")?
                .iter()
                .filter_map(thread)
                .collect(),
        })
    })?;
    Ok(McpAuthRequired {
        id: fields.maybe_text("id")?.unwrap_or_default(),
        thread_id: fields.maybe_text("thread_id")?,
        created_at: fields.maybe_text("created_at")?,
        servers: mcp_servers.clone(),
        mcp_servers,
    })
}

fn sandbox_created(fields: Fields<'_>) -> Result<SandboxCreated, Problem> {
    Ok(SandboxCreated {
        id: fields.maybe_text("id")?.unwrap_or_default(),
        thread_id: fields.maybe_text("thread_id")?,
        created_at: fields.maybe_text("created_at")?,
        sandbox_id: fields.text("sandbox_id")?,
    })
}

fn turn_created(fields: Fields<'_>) -> Result<TurnCreated, Problem> {
    Ok(TurnCreated {
        id: fields.maybe_text("id")?.unwrap_or_default(),
        turn_id: fields.text("turn_id")?,
        previous_turn_id: fields.maybe_text("previous_turn_id")?,
        thread_id: fields.maybe_text("thread_id")?,
        created_at: fields.maybe_text("created_at")?,
        created_by: fields.value("created_by").map(created_by).transpose()?,
        created_by_subject: fields.object("created_by_subject", subject)?,
        input: fields.list("input", TurnInputItem::read)?,
        state: RunningState {
            status: "running".to_owned(),
        },
    })
}

fn created_by(value: &Value<'_>) -> Result<CreatedBy, Problem> {
    match value {
        Value::String(name) => Ok(CreatedBy::Name(name.to_string())),
        value => subject(Fields::of(value, "created_by")?).map(CreatedBy::Subject),
    }
}

fn subject(fields: Fields<'_>) -> Result<Subject, Problem> {
    Ok(Subject {
        subject_id: fields.maybe_text("subject_id")?.unwrap_or_default(),
        subject_type: fields.maybe_text("subject_type")?.unwrap_or_default(),
        subject_slug: fields.maybe_text("subject_slug")?.unwrap_or_default(),
    })
}

fn turn_done(fields: Fields<'_>) -> Result<TurnDone, Problem> {
    Ok(TurnDone {
        id: fields.maybe_text("id")?.unwrap_or_default(),
        thread_id: fields.maybe_text("thread_id")?,
        created_at: fields.maybe_text("created_at")?,
        state: fields
            .object("state", terminal_state)?
            .ok_or_else(|| "`state` is missing".to_owned())?,
    })
}

/// Reads the state of a turn.
pub(super) fn turn_state(json: &Value<'_>) -> Result<TurnState, Problem> {
    let state = Fields::of(json, "state")?;
    let status = state.text("status")?;
    if status == "running" {
        return Ok(TurnState::Running(RunningState { status }));
    }
    terminal_state(state).map(Box::new).map(TurnState::Terminal)
}

fn terminal_state(state: Fields<'_>) -> Result<TerminalState, Problem> {
    let completed_at = state.maybe_text("completed_at")?;
    let metrics = state.object("metrics", metrics)?;
    Ok(match state.text("status")?.as_str() {
        "done" => TerminalState::Done {
            output: state.object("output", output)?.map(Box::new),
            required_actions: required_actions(state)?,
            completed_at,
            metrics,
        },
        "cancelled" => TerminalState::Cancelled {
            reason: state.maybe_text("reason")?,
            completed_at,
            metrics,
        },
        "error" => TerminalState::Error {
            message: state.maybe_text("message")?.unwrap_or_default(),
            completed_at,
            metrics,
        },
        _ => return Err("`state` is not that of an ended turn".to_owned()),
    })
}

fn required_actions(state: Fields<'_>) -> Result<Vec<RequiredActionEvent>, Problem> {
    let actions = state.array("required_actions")?.iter().map(|value| {
        let fields = Fields::of(value, "required_actions")?;
        Ok(match fields.text("type")?.as_str() {
            "tool.approval_required" => {
                Some(RequiredActionEvent::ToolApproval(tools_required(fields)?))
            }
            "tool.response_required" => {
                Some(RequiredActionEvent::ToolResponse(tools_required(fields)?))
            }
            "mcp.auth_required" => Some(RequiredActionEvent::McpAuth(mcp_auth_required(fields)?)),
            // A newer kind: the JSON handed out still has it.
            _ => None,
        })
    });
    actions.filter_map(Result::transpose).collect()
}

fn metrics(fields: Fields<'_>) -> Result<TurnMetrics, Problem> {
    Ok(TurnMetrics {
        total_input_tokens: fields.count("total_input_tokens")?,
        total_output_tokens: fields.count("total_output_tokens")?,
        total_tokens: fields.count("total_tokens")?,
        total_cache_read_tokens: fields.maybe_count("total_cache_read_tokens")?,
        total_cache_write_tokens: fields.maybe_count("total_cache_write_tokens")?,
        total_reasoning_tokens: fields.maybe_count("total_reasoning_tokens")?,
        total_cost_in_usd: fields.value("total_cost_in_usd").and_then(Value::number_text).map(str::to_owned),
    })
}
