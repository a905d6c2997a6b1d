//! How a turn looks: the user's words, the agent's, its calls, and what waits for an answer.

use leptos::prelude::*;
use turnwire::event::{ContentPart, TurnInputItem, UserContent};
use turnwire::snapshot::{CallStatus, RequiredAction, ToolCallSnapshot, TurnSnapshot, WaitingCall};
use turnwire::turn::TurnStatus;

use crate::conversation::{Conversation, Shown};

/// One turn.
#[component]
pub fn TurnView(conversation: Conversation, shown: Shown) -> impl IntoView {
    let snapshot = shown.snapshot;
    let user = move || snapshot.with(said).map(|text| view! { <p class="user">{text}</p> });
    let replies = move || snapshot.with(|snapshot| snapshot.threads.clone());
    let threads = move || {
        let messages = replies().into_iter().flat_map(|thread| thread.messages.clone());
        let message = |message: std::sync::Arc<turnwire::snapshot::MessageSnapshot>| {
            let text = message.content.clone();
            let calls: Vec<_> = message.tool_calls.iter().map(call).collect();
            view! {
                {(!text.is_empty()).then(|| view! { <p class="reply">{text}</p> })}
                {calls}
            }
        };
        messages.map(message).collect_view()
    };
    let questions = move || {
        let calls: Vec<WaitingCall> = snapshot
            .with(|snapshot| snapshot.required_actions().to_vec())
            .into_iter()
            .filter_map(|action| match action {
                RequiredAction::Approval(call) => Some(call),
                RequiredAction::Response(_) | RequiredAction::Authorization { .. } => None,
            })
            .collect();
        (!calls.is_empty()).then(|| view! { <Question conversation shown calls /> })
    };
    let wrong = move || snapshot.with(|snapshot| snapshot.error.is_some());
    view! {
        <li>
            {user}
            {threads}
            {questions}
            <p class="status" class:wrong=wrong role="status">{move || snapshot.with(status)}</p>
        </li>
    }
}

/// What the user said.
fn said(snapshot: &TurnSnapshot) -> Option<String> {
    snapshot.input.iter().find_map(|item| match item {
        TurnInputItem::UserMessage { content: UserContent::Text(text) } => Some(text.clone()),
        TurnInputItem::UserMessage { content: UserContent::Parts(parts) } => {
            parts.iter().find_map(|part| match part {
                ContentPart::Text { text, .. } => Some(text.clone()),
                _ => None,
            })
        }
        _ => None,
    })
}

fn call(call: &ToolCallSnapshot) -> impl IntoView + use<> {
    let state = match call.status {
        CallStatus::Streaming => "writing its arguments",
        CallStatus::Running => "running",
        CallStatus::ApprovalRequired => "waits for you",
        CallStatus::ResponseRequired => "waits for an answer",
        CallStatus::Cancelled => "cancelled",
        CallStatus::Done => "done",
    };
    let (name, arguments) = (call.name.clone(), call.arguments.clone());
    view! {
        <div class="call">
            <strong>{name}</strong> " " <span class="state">{state}</span>
            <br />
            <code>{arguments}</code>
        </div>
    }
}

/// Asks about all calls that wait: they are answered together.
#[component]
fn Question(conversation: Conversation, shown: Shown, calls: Vec<WaitingCall>) -> impl IntoView {
    let names = calls.iter().map(|call| call.name.clone()).collect::<Vec<_>>().join(", ");
    let denied = calls.clone();
    let allow = move |_| conversation.answer(shown, calls.iter().map(WaitingCall::allow).collect());
    let deny = move |_| {
        let answers = denied.iter().map(|call| call.deny(Some("The user said no."))).collect();
        conversation.answer(shown, answers);
    };
    view! {
        <div class="call" role="group" aria-label="Approval">
            "May the agent call " <strong>{names}</strong> "?"
            <div class="choice">
                <button class="main" on:click=allow>"Allow"</button>
                <button on:click=deny>"Deny"</button>
            </div>
        </div>
    }
}

/// The turn's status in words.
fn status(snapshot: &TurnSnapshot) -> String {
    if let Some(error) = &snapshot.error {
        return error.message.clone();
    }
    if let Some(reconnecting) = &snapshot.reconnecting {
        return format!("The connection was lost. Attempt {} to go on.", reconnecting.attempt);
    }
    match snapshot.status {
        TurnStatus::Unstarted | TurnStatus::Starting => "Sending".to_owned(),
        TurnStatus::Running => "Writing".to_owned(),
        TurnStatus::Cancelled => "Stopped".to_owned(),
        TurnStatus::Error | TurnStatus::Incomplete => "It could not be finished.".to_owned(),
        TurnStatus::Done => {
            format!("{} events, each once", snapshot.last_sequence_number)
        }
    }
}
