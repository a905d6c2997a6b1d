//! Reading a thread again as with ADK: its messages and its state as JSON. While a run is active, the user's message is
//! there at once, and the run's own messages follow when it has ended. All messages have ids of the server.

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::error::Refusal;
use super::runs::{admit, answer};
use super::server::Server;
use super::threads::{App, Thread};
use crate::http::Output;

/// The request.
#[derive(Debug, Deserialize)]
struct Asked {
    #[serde(rename = "threadId")]
    thread: String,
}

/// `POST /ag-ui/agents/state`, beside the agent `/ag-ui/store`.
pub(super) async fn state(
    State(app): State<App>,
    headers: HeaderMap,
    mut output: Output,
    body: Bytes,
) -> Response {
    answer(admit(&app, &headers).and_then(|()| {
        let asked: Asked =
            serde_json::from_slice(&body).map_err(|error| Refusal::bad_json(Server::Store, &body, &error))?;
        output.injection.of_session(&asked.thread);
        let thread = app.own.find(Server::Store, &asked.thread);
        let (state, messages) = thread.as_deref().map_or_else(|| (json!({}), Vec::new()), told);
        Ok(Json(json!({
            "threadId": asked.thread, "threadExists": thread.is_some(), "state": state, "messages": messages,
        }))
        .into_response())
    }))
}

fn told(thread: &Thread) -> (Value, Vec<Value>) {
    let kept = thread.state();
    let asked = kept.live().map(|run| json!({"id": run.id, "role": "user", "content": run.text}));
    let messages = kept.conversation.messages.iter().map(|message| message.0.clone()).chain(asked);
    let renamed = messages.map(|mut message| {
        let id = message["id"].as_str().map(|id| format!("adk-{id}"));
        message["id"] = json!(id);
        message
    });
    (kept.state.clone(), renamed.collect())
}
