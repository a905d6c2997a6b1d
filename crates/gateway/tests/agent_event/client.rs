//! A gateway on a free port, and a client that reads its answers and streams.

use std::time::Duration;

use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};
use turnwire_gateway::Config;

use crate::listen::{self, listen};

pub(crate) use crate::answer::{Answer, text};

/// A running gateway. It ends with the test's runtime.
pub(crate) struct Gateway {
    pub(crate) address: String,
    client: reqwest::Client,
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

    pub(crate) fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.client.request(method, format!("http://{}{path}", self.address))
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

    /// The frames of a run of tirea that begins with these words.
    pub(crate) async fn say(&self, thread: &str, text: &str) -> Vec<Value> {
        self.say_with(thread, text, "none").await
    }

    /// The same under a fault.
    pub(crate) async fn say_with(&self, thread: &str, text: &str, fault: &str) -> Vec<Value> {
        self.post(&format!("/tirea/v1/runs?fault={fault}"), words(thread, text)).await.frames()
    }

    /// The frames of a run of tirea that answers.
    pub(crate) async fn decide(&self, thread: &str, decisions: Value) -> Vec<Value> {
        self.decide_with(thread, decisions, "none").await
    }

    pub(crate) async fn decide_with(&self, thread: &str, decisions: Value, fault: &str) -> Vec<Value> {
        let body = json!({"agentId": "support-bot", "threadId": thread, "decisions": decisions});
        self.post(&format!("/tirea/v1/runs?fault={fault}"), body).await.frames()
    }

    /// The frames of a run of awaken that begins with these words.
    pub(crate) async fn ask(&self, thread: &str, text: &str) -> Vec<Value> {
        self.ask_with(thread, text, "none").await
    }

    pub(crate) async fn ask_with(&self, thread: &str, text: &str, fault: &str) -> Vec<Value> {
        self.post(&format!("/awaken/v1/runs?fault={fault}"), words(thread, text)).await.frames()
    }

    /// What an endpoint returns once it fits.
    pub(crate) async fn until(&self, path: &str, fits: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..400 {
            let answer = self.get(path).await.json();
            if fits(&answer) {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{path} never became what it should: {}", self.get(path).await.text);
    }
}

/// The body of a run that begins with words; the message has no id.
pub(crate) fn words(thread: &str, text: &str) -> Value {
    json!({
        "agentId": "support-bot",
        "threadId": thread,
        "messages": [{"role": "user", "content": text}],
    })
}

impl Answer {
    /// The status and the sentence of an error.
    pub(crate) fn error(&self) -> (u16, String) {
        (self.status.as_u16(), text(&self.json()["error"]))
    }

    pub(crate) fn frames(&self) -> Vec<Value> {
        assert_eq!(self.status, StatusCode::OK, "{}", self.text);
        frames(&self.text)
    }
}

/// Reads frames in exactly the form of the protocol: one line of data, and a blank line.
pub(crate) fn frames(stream: &str) -> Vec<Value> {
    assert!(stream.is_empty() || stream.ends_with("\n\n"), "an incomplete frame: {stream}");
    let frames = stream.split_terminator("\n\n");
    frames
        .map(|frame| {
            let data = frame.strip_prefix("data: ").expect("a line of data");
            assert!(!data.contains('\n'), "one line: {frame}");
            serde_json::from_str(data).expect("JSON")
        })
        .collect()
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

/// The type of a frame, in either dialect.
pub(crate) fn kind(frame: &Value) -> &str {
    frame["type"].as_str().or(frame["event_type"].as_str()).expect("a type")
}

/// The types in order; a row of the same type counts once.
pub(crate) fn outline(frames: &[Value]) -> Vec<&str> {
    let mut kinds: Vec<&str> = frames.iter().map(kind).collect();
    kinds.dedup();
    kinds
}

/// All frames of a type.
pub(crate) fn of<'a>(frames: &'a [Value], wanted: &str) -> Vec<&'a Value> {
    frames.iter().filter(|frame| kind(frame) == wanted).collect()
}

/// The text of all deltas, in either dialect.
pub(crate) fn said(frames: &[Value]) -> String {
    let deltas = of(frames, "text_delta").into_iter();
    deltas.filter_map(|frame| frame["data"]["delta"].as_str().or(frame["delta"].as_str())).collect()
}

/// How a run of tirea ended.
pub(crate) fn termination(frames: &[Value]) -> &Value {
    let last = frames.last().expect("a frame");
    assert_eq!(kind(last), "run_finish", "{last}");
    if last.get("event_type").is_some() { &last["termination"] } else { &last["data"]["termination"] }
}

/// The calls that wait according to the last snapshot of tirea.
pub(crate) fn waiting(frames: &[Value]) -> Vec<Value> {
    let snapshots = of(frames, "state_snapshot");
    let scope = &snapshots.last().expect("a snapshot")["data"]["snapshot"]["__tool_call_scope"];
    let calls = scope.as_object().expect("calls").values();
    calls.filter_map(|call| call.get("suspended_call").cloned()).collect()
}
