//! How a run asks its questions: by interrupts, by calls of the page, or as one of the frameworks does.

use jiff::SignedDuration;
use serde_json::{Map, Value, json};

use super::event::{Event, Interrupt, Outcome};
use super::input::RunInput;
use super::recorder::{Recorder, Wanted};
use super::traps::{ACCEPTED_CALL, CONFIRM_CHANGES, CONFIRMATION_CALL, EXPIRING, ON_INTERRUPT};
use super::waiting::{Asked, By, Waiting, What};
use crate::agents::{Answers, MAIN, Server, serve};
use crate::faults::Traps;

/// The tool with which an agent asks its user.
const ASK: &str = "ask_user_question";

/// Sorts the script's questions, with the thread of each. The server answers at once what it can.
pub(super) fn ask(
    recorder: &mut Recorder,
    input: &RunInput,
    traps: &Traps,
    answers: &mut Answers,
) -> Vec<(String, Asked)> {
    let expires_at = traps.number(&EXPIRING).map(|limit| {
        let limit = SignedDuration::from_millis(i64::try_from(limit).unwrap_or(i64::MAX));
        crate::time::iso(crate::time::now().saturating_add(limit).unwrap_or(jiff::Timestamp::MAX))
    });
    let mut asked = Vec::new();
    for wanted in std::mem::take(&mut recorder.wanted) {
        let (thread, mut one) = match wanted {
            Wanted::Consent { thread, call } => {
                let by = ask_consent(recorder, &thread, &call, traps);
                (thread, Asked { what: What::Consent(call), by })
            }
            Wanted::Response { thread, call } => {
                let (name, arguments) = called(recorder, &call);
                if input.tools.contains(&name) {
                    (thread, Asked { what: What::Result(call.clone()), by: By::Tool(call) })
                } else if name == ASK {
                    let by = ask_question(&call, &arguments, traps);
                    (thread, Asked { what: What::Answer(call), by })
                } else {
                    let served = serve(&name, &arguments);
                    recorder.result(&thread, &call, served.clone());
                    answers.responses.insert(call, served);
                    continue;
                }
            }
            Wanted::Authorization(servers) => {
                let by = By::Interrupt(Box::new(sign_in(&servers)));
                (MAIN.to_owned(), Asked { what: What::Authorization, by })
            }
        };
        if let By::Interrupt(interrupt) = &mut one.by {
            interrupt.expires_at.clone_from(&expires_at);
        }
        asked.push((thread, one));
    }
    asked
}

/// The name and the arguments of a call that was made.
fn called(recorder: &Recorder, call: &str) -> (String, Map<String, Value>) {
    let made = recorder.wire.conversation.call(call);
    made.map_or_else(Default::default, |made| {
        (made.name.to_owned(), serde_json::from_str(made.arguments).unwrap_or_default())
    })
}

fn ask_consent(recorder: &mut Recorder, thread: &str, call: &str, traps: &Traps) -> By {
    let (name, arguments) = called(recorder, call);
    if traps.has(&ACCEPTED_CALL) {
        return By::Tool(call.to_owned());
    }
    if traps.has(&CONFIRMATION_CALL) {
        let id = format!("adk-{}", uuid::Uuid::new_v4());
        let hint = format!("Please approve or reject the tool call {name}()");
        recorder.extra_call(
            &id,
            "adk_request_confirmation",
            &json!({
                "originalFunctionCall": {"id": call, "args": arguments, "name": name},
                "toolConfirmation": {"hint": hint, "confirmed": false},
            }),
        );
        return By::Tool(id);
    }
    if traps.has(&CONFIRM_CHANGES) {
        let requested = json!({"call_id": call, "name": name, "arguments": arguments});
        let value = json!({"id": interrupt_id(call), "function_call": requested});
        recorder.wire.send(Event::Custom { name: "function_approval_request", value });
        let steps = json!([{"description": format!("Execute {name}"), "status": "enabled"}]);
        recorder.extra_call(
            &uuid::Uuid::new_v4().to_string(),
            "confirm_changes",
            &json!({
                "function_name": name, "function_call_id": call, "function_arguments": arguments, "steps": steps,
            }),
        );
    }
    By::Interrupt(Box::new(Interrupt {
        id: interrupt_id(call),
        reason: "tool_call",
        message: format!("Approve {name}({})?", Value::Object(arguments)),
        tool_call_id: Some(call.to_owned()),
        response_schema: Some(json!({
            "type": "object",
            "properties": {
                "approved": {"type": "boolean"}, "editedArgs": {"type": "object"}, "reason": {"type": "string"},
            },
            "required": ["approved"],
        })),
        expires_at: None,
        subagent_run_id: (thread != MAIN).then(|| thread.to_owned()),
        metadata: None,
    }))
}

fn interrupt_id(call: &str) -> String {
    format!("int-{call}")
}

fn ask_question(call: &str, arguments: &Map<String, Value>, traps: &Traps) -> By {
    if traps.has(&ACCEPTED_CALL) || traps.has(&CONFIRMATION_CALL) {
        return By::Tool(call.to_owned());
    }
    let question = arguments.get("question").and_then(Value::as_str).unwrap_or("What would you like?");
    let options = arguments.get("options").cloned().unwrap_or_default();
    By::Interrupt(Box::new(Interrupt {
        id: interrupt_id(call),
        reason: "input_required",
        message: question.to_owned(),
        tool_call_id: None,
        response_schema: Some(json!({"type": "string", "description": question})),
        expires_at: None,
        subagent_run_id: None,
        metadata: Some(json!({"question": question, "options": options})),
    }))
}

fn sign_in(servers: &[Server]) -> Interrupt {
    let names: Vec<&str> = servers.iter().map(|server| server.name).collect();
    let servers = servers.iter().map(
        |server| json!({"id": server.id, "name": server.name, "url": format!("/authorize/{}", server.name)}),
    );
    let servers: Vec<Value> = servers.collect();
    Interrupt {
        id: interrupt_id(&uuid::Uuid::new_v4().to_string()),
        reason: "turnwire:authorization",
        message: format!("Sign in to {}, then go on.", names.join(", ")),
        tool_call_id: None,
        response_schema: None,
        expires_at: None,
        subagent_run_id: None,
        metadata: Some(json!({"servers": servers})),
    }
}

/// How a waiting run ends.
pub(super) fn outcome(recorder: &mut Recorder, waiting: &Waiting, traps: &Traps) -> Outcome {
    let interrupts: Vec<Interrupt> = waiting.interrupts().cloned().collect();
    let pages = waiting.asked.iter().filter_map(|asked| match (&asked.what, &asked.by) {
        (What::Result(_), By::Tool(call)) => Some(call.clone()),
        _ => None,
    });
    let pending_tool_call_ids: Vec<String> = pages.collect();
    if interrupts.is_empty() {
        return Outcome::Success { pending_tool_call_ids };
    }
    if !traps.has(&ON_INTERRUPT) {
        return Outcome::Interrupt { interrupts };
    }
    for interrupt in interrupts {
        let text = serde_json::to_string(&interrupt).unwrap_or_default();
        recorder.wire.send(Event::Custom { name: "on_interrupt", value: Value::String(text) });
    }
    Outcome::Success { pending_tool_call_ids }
}
