//! A gateway on a free port, and a client that holds the conversation, as the protocol wants.

use std::time::Duration;

use reqwest::{Response, StatusCode};
use serde_json::{Value, json};

use crate::listen::{listen, paced};

pub(crate) use crate::answer::{Answer, text};

/// A running gateway. It ends with the test's runtime.
pub(crate) struct Gateway {
    pub(crate) address: String,
    pub(crate) client: reqwest::Client,
}

/// A gateway with a pause of so many milliseconds between events.
pub(crate) async fn gateway(milliseconds: u64) -> Gateway {
    let (address, client) = listen(paced(Duration::from_millis(milliseconds))).await;
    Gateway { address, client }
}

impl Gateway {
    pub(crate) fn post(&self, path: &str, body: &Value) -> reqwest::RequestBuilder {
        self.client.post(format!("http://{}{path}", self.address)).json(body)
    }

    pub(crate) async fn send(&self, path: &str, body: &Value) -> Answer {
        Answer::read(self.post(path, body)).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        Answer::read(self.client.get(format!("http://{}{path}", self.address))).await
    }

    /// A response whose body is still coming.
    pub(crate) async fn open(&self, path: &str, body: &Value) -> Response {
        self.post(path, body).send().await.expect("an answer")
    }

    /// A run of a thread with one message, under a fault.
    pub(crate) async fn say(&self, thread: &str, words: &str, fault: &str) -> Vec<Value> {
        self.send(&format!("/ag-ui?fault={fault}"), &said(thread, words)).await.events()
    }

    /// The run that continues another one with these fields.
    pub(crate) async fn go_on(&self, thread: &str, more: &Value, fault: &str) -> Vec<Value> {
        let mut body = said(thread, "what was said");
        for (name, value) in more.as_object().expect("fields") {
            body[name] = value.clone();
        }
        self.send(&format!("/ag-ui?fault={fault}"), &body).await.events()
    }
}

/// A request with one message of the user.
pub(crate) fn said(thread: &str, words: &str) -> Value {
    let message = json!({"id": format!("said-{words}"), "role": "user", "content": words});
    json!({"threadId": thread, "runId": format!("run-{words}"), "protocolVersion": "1.0", "messages": [message]})
}

impl Answer {
    /// The events of a stream.
    pub(crate) fn events(&self) -> Vec<Value> {
        assert_eq!(self.status, StatusCode::OK, "{}", self.text);
        assert_eq!(self.headers["content-type"], "text/event-stream");
        events(&self.text)
    }
}

/// Reads frames in exactly the form of the captures: one line of data, a blank line.
pub(crate) fn events(stream: &str) -> Vec<Value> {
    assert!(stream.is_empty() || stream.ends_with("\n\n"), "an incomplete frame: {stream}");
    let frames = stream.split_terminator("\n\n");
    frames
        .map(|frame| {
            let data = frame.strip_prefix("data: ").unwrap_or_else(|| panic!("no data: {frame}"));
            assert!(!data.contains('\n'), "one line: {frame}");
            serde_json::from_str(data).expect("JSON")
        })
        .collect()
}

/// The types in order, without their first words' families; a row of the same type counts once.
pub(crate) fn outline(events: &[Value]) -> String {
    let mut types: Vec<String> = events.iter().map(|event| text(&event["type"])).collect();
    types.dedup();
    types.join(" ").replace("TEXT_MESSAGE_", "TEXT_").replace("TOOL_CALL_", "CALL_")
}

/// The events of this type.
pub(crate) fn of<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["type"] == kind).collect()
}

/// The only event of this type.
pub(crate) fn only<'a>(events: &'a [Value], kind: &str) -> &'a Value {
    let found = of(events, kind);
    assert_eq!(found.len(), 1, "{kind}: {events:#?}");
    found[0]
}

/// All text of the assistant.
pub(crate) fn words(events: &[Value]) -> String {
    of(events, "TEXT_MESSAGE_CONTENT").into_iter().map(|event| text(&event["delta"])).collect()
}

/// The interrupts of the last event.
pub(crate) fn interrupts(events: &[Value]) -> Vec<Value> {
    let outcome = &events.last().expect("events")["outcome"];
    assert_eq!(outcome["type"], "interrupt", "{outcome}");
    outcome["interrupts"].as_array().expect("interrupts").clone()
}

/// The code and the words of a run's error.
pub(crate) fn error(events: &[Value]) -> (String, String) {
    let error = only(events, "RUN_ERROR");
    (text(&error["code"]), text(&error["message"]))
}

/// A resume that answers these interrupts.
pub(crate) fn resolved(interrupts: &[Value], payload: &Value) -> Value {
    let entries = interrupts.iter();
    entries.map(|one| json!({"interruptId": one["id"], "status": "resolved", "payload": payload})).collect()
}
