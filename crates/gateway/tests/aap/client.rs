//! A gateway on a free port, and a client that reads its answers and streams.

use std::time::Duration;

use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};
use turnwire_gateway::Config;

use crate::listen::{self, listen};

pub(crate) use crate::answer::{Answer, text};

/// All stream modes.
pub(crate) const MODES: [&str; 3] = ["delta", "message", "none"];

/// A running gateway. It ends with the test's runtime.
pub(crate) struct Gateway {
    pub(crate) address: String,
    client: reqwest::Client,
}

/// One event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Frame {
    pub(crate) event: String,
    pub(crate) data: Value,
}

/// A gateway at full speed.
pub(crate) async fn fast() -> Gateway {
    paced(0).await
}

/// A gateway with a pause of so many milliseconds between events.
pub(crate) async fn paced(milliseconds: u64) -> Gateway {
    Gateway::start(listen::paced(Duration::from_millis(milliseconds))).await
}

impl Gateway {
    pub(crate) async fn start(config: Config) -> Self {
        let (address, client) = listen(config).await;
        Self { address, client }
    }

    /// A request to the protocol's base URL, or to the gateway's own endpoints.
    pub(crate) fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let base = if path.starts_with("/_gateway") { "" } else { "/aap" };
        self.client.request(method, format!("http://{}{base}{path}", self.address))
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        Answer::read(self.request(Method::GET, path)).await
    }

    pub(crate) async fn send(&self, method: Method, path: &str, body: Value) -> Answer {
        Answer::read(self.request(method, path).json(&body)).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(Method::POST, path, body).await
    }

    /// A response whose body is still coming.
    pub(crate) async fn open(&self, path: &str, body: Value) -> Response {
        self.request(Method::POST, path).json(&body).send().await.expect("an answer")
    }

    /// A session made with this body: its path.
    pub(crate) async fn session_with(&self, body: Value) -> String {
        let answer = self.post("/sessions", body).await;
        assert_eq!(answer.status, 201, "{}", answer.text);
        format!("/sessions/{}", text(&answer.json()["sessionId"]))
    }

    /// A session of the support agent: its path.
    pub(crate) async fn session(&self) -> String {
        self.session_with(json!({"agent": {"name": "support-bot"}})).await
    }

    /// A session whose page runs these tools.
    pub(crate) async fn session_of_page(&self, tools: &[&str]) -> String {
        self.session_with(json!({"agent": {"name": "support-bot"}, "tools": specs(tools)})).await
    }

    /// A session that has switched on these tools of the server.
    pub(crate) async fn session_of_server(&self, tools: Value) -> String {
        self.session_with(json!({"agent": {"name": "support-bot", "tools": tools}})).await
    }

    /// A turn to its end.
    pub(crate) async fn turn(&self, session: &str, mode: &str, messages: Value) -> Answer {
        self.turn_with(session, mode, messages, "none").await
    }

    /// The same under a fault.
    pub(crate) async fn turn_with(&self, session: &str, mode: &str, messages: Value, fault: &str) -> Answer {
        let body = json!({"stream": mode, "messages": messages});
        self.post(&format!("{session}/turns?fault={fault}"), body).await
    }

    /// A turn that begins with words.
    pub(crate) async fn say(&self, session: &str, mode: &str, words: &str) -> Answer {
        self.turn(session, mode, user(words)).await
    }

    pub(crate) async fn say_with(&self, session: &str, mode: &str, words: &str, fault: &str) -> Answer {
        self.turn_with(session, mode, user(words), fault).await
    }

    /// The full history.
    pub(crate) async fn history(&self, session: &str) -> Vec<Value> {
        let answer = self.get(&format!("{session}/history?type=full")).await.json();
        answer["history"]["full"].as_array().expect("a history").clone()
    }

    /// The history once it has so many messages.
    pub(crate) async fn history_of(&self, session: &str, messages: usize) -> Vec<Value> {
        for _ in 0..400 {
            let history = self.history(session).await;
            if history.len() >= messages {
                return history;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("never so long: {:?}", self.history(session).await);
    }
}

/// The messages of a turn that begins with words.
pub(crate) fn user(words: &str) -> Value {
    json!([{"role": "user", "content": words}])
}

/// Tools of the page, without any parameters.
pub(crate) fn specs(names: &[&str]) -> Value {
    let spec = |name| json!({"name": name, "description": "A tool.", "parameters": {"type": "object"}});
    names.iter().map(spec).collect()
}

pub(crate) fn result(call: &Value, content: &str) -> Value {
    json!({"role": "tool", "toolCallId": call["toolCallId"], "content": content})
}

pub(crate) fn grant(call: &Value) -> Value {
    json!({"role": "tool_permission", "toolCallId": call["toolCallId"], "granted": true})
}

pub(crate) fn deny(call: &Value, reason: &str) -> Value {
    let call = &call["toolCallId"];
    json!({"role": "tool_permission", "toolCallId": call, "granted": false, "reason": reason})
}

impl Answer {
    pub(crate) fn content_type(&self) -> &str {
        self.headers["content-type"].to_str().expect("text")
    }

    /// The status and the sentence of an error.
    pub(crate) fn error(&self) -> (u16, String) {
        assert_eq!(self.content_type(), "application/json");
        (self.status.as_u16(), text(&self.json()["error"]))
    }

    pub(crate) fn frames(&self) -> Vec<Frame> {
        assert_eq!(self.status, StatusCode::OK, "{}", self.text);
        assert_eq!(self.content_type(), "text/event-stream");
        frames(&self.text)
    }
}

/// Reads frames in exactly the form of the captures: a name, one line of data, a blank line.
pub(crate) fn frames(stream: &str) -> Vec<Frame> {
    assert!(stream.is_empty() || stream.ends_with("\n\n"), "an incomplete frame: {stream}");
    let frames = stream.split_terminator("\n\n");
    frames
        .map(|frame| {
            let (event, data) = frame.split_once('\n').expect("two lines");
            let event = event.strip_prefix("event: ").expect("a name").to_owned();
            let data = data.strip_prefix("data: ").expect("a line of data");
            assert!(!data.contains('\n'), "one line: {frame}");
            let data: Value = serde_json::from_str(data).expect("JSON");
            assert!(data.is_object(), "{data}");
            Frame { event, data }
        })
        .collect()
}

/// The names in order; a row of the same name counts once.
pub(crate) fn outline(frames: &[Frame]) -> Vec<&str> {
    let mut names: Vec<&str> = frames.iter().map(|frame| frame.event.as_str()).collect();
    names.dedup();
    names
}

/// Reads what a response returns until it contains a text, and to the end of that frame.
pub(crate) async fn read_until(response: &mut Response, text: &str) -> String {
    let mut all = Vec::new();
    while !(all.ends_with(b"\n\n") && String::from_utf8_lossy(&all).contains(text)) {
        let chunk = response.chunk().await.expect("a chunk");
        all.extend_from_slice(&chunk.unwrap_or_else(|| panic!("the stream ended before {text}")));
    }
    String::from_utf8_lossy(&all).into_owned()
}
