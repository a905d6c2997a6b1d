//! A gateway on a free port, and a client that reads its answers and streams.

use std::time::Duration;

use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};
use turnwire_gateway::Config;

use crate::listen::listen;
pub(crate) use crate::listen::paced;

pub(crate) use crate::answer::{Answer, text};

/// A running gateway. It ends with the test's runtime.
pub(crate) struct Gateway {
    pub(crate) address: String,
    client: reqwest::Client,
    token: String,
}

/// One event of a stream with its sequence number.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Numbered {
    pub(crate) number: u64,
    pub(crate) event: Value,
}

/// Settings at full speed.
pub(crate) fn fast() -> Config {
    paced(Duration::ZERO)
}

impl Gateway {
    pub(crate) async fn start(config: Config) -> Self {
        let (address, client) = listen(config).await;
        Self { address, client, token: "test".to_owned() }
    }

    /// The same gateway, used with another token.
    pub(crate) fn with_token(&self, token: &str) -> Self {
        Self { address: self.address.clone(), client: self.client.clone(), token: token.to_owned() }
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let url = format!("http://{}{path}", self.address);
        self.client.request(method, url).bearer_auth(&self.token)
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
        let sent = self.request(Method::POST, path).json(&body).send().await;
        sent.expect("an answer")
    }

    /// A new session of the tenant `acme`: the path of its turns.
    pub(crate) async fn session(&self) -> String {
        let body = json!({"agent_name": "support-bot"});
        let answer = self.post("/acme/v1/agents/sessions", body).await;
        let id = answer.data()["id"].as_str().expect("an id").to_owned();
        format!("/acme/v1/agents/sessions/{id}")
    }

    /// Runs a turn with a user message to its end.
    pub(crate) async fn say(&self, session: &str, text: &str) -> Vec<Numbered> {
        let body = json!({"input": [{"type": "user.message", "content": text}]});
        self.turn(session, body).await
    }

    /// Runs a turn to its end.
    pub(crate) async fn turn(&self, session: &str, body: Value) -> Vec<Numbered> {
        let answer = self.post(&format!("{session}/turns"), body).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        answer.events()
    }
}

impl Answer {
    /// What a successful answer wraps.
    pub(crate) fn data(&self) -> Value {
        assert!(self.status.is_success(), "{}", self.text);
        self.json()["data"].take()
    }

    /// The ids of a list.
    pub(crate) fn ids(&self) -> Vec<String> {
        let data = self.data();
        let items = data.as_array().expect("a list").iter();
        items.map(|item| text(&item["id"])).collect()
    }

    /// The message of an error envelope, whose form is checked.
    pub(crate) fn error(&self) -> String {
        assert!(!self.status.is_success(), "{}", self.text);
        let json = self.json();
        assert!(json["error"]["type"].is_string(), "{json}");
        assert!(json["error"]["code"].is_string(), "{json}");
        text(&json["error"]["message"])
    }

    pub(crate) fn events(&self) -> Vec<Numbered> {
        events(&self.text)
    }
}

/// Reads frames in exactly the protocol's form; comments are skipped.
pub(crate) fn events(stream: &str) -> Vec<Numbered> {
    let frames = stream.split_terminator("\n\n");
    frames
        .filter(|frame| !frame.starts_with(':'))
        .map(|frame| {
            let (data, id) = frame.split_once("\nid: ").expect("data, then an id");
            let data = data.strip_prefix("data: ").expect("one line of data");
            Numbered {
                number: id.parse().expect("a number"),
                event: serde_json::from_str(data).expect("JSON"),
            }
        })
        .collect()
}

/// Event types in order; a run of deltas of one thread counts once.
pub(crate) fn outline(events: &[Numbered]) -> Vec<String> {
    let mut outline: Vec<String> = Vec::new();
    for Numbered { event, .. } in events {
        let kind = text(&event["type"]);
        if kind != "model.message.delta" || outline.last() != Some(&kind) {
            outline.push(kind);
        }
    }
    outline
}

/// All events of a type.
pub(crate) fn of_type<'a>(events: &'a [Numbered], kind: &str) -> Vec<&'a Value> {
    let all = events.iter().map(|numbered| &numbered.event);
    all.filter(|event| event["type"] == kind).collect()
}

/// The state in which a turn ended.
pub(crate) fn state(events: &[Numbered]) -> &Value {
    let last = events.last().expect("an event");
    assert_eq!(last.event["type"], "turn.done");
    &last.event["state"]
}

/// The text of all deltas on the main thread.
pub(crate) fn said(events: &[Numbered]) -> String {
    let deltas = of_type(events, "model.message.delta").into_iter();
    let main = deltas.filter(|delta| delta["thread_id"] == "main");
    main.filter_map(|delta| delta["content"].as_str()).collect()
}

/// Answers for everything that a paused turn asks: this decision, this response.
pub(crate) fn answers(paused: &[Numbered], approval: &Value, response: &str) -> Value {
    let mut items = Vec::new();
    for action in state(paused)["required_actions"].as_array().expect("actions") {
        for call in action["tool_calls"].as_array().expect("calls") {
            let mut item = json!({"thread_id": action["thread_id"], "tool_call_id": call["id"]});
            if action["type"] == "tool.approval_required" {
                item["type"] = json!("user.tool_approval");
                item["approval"] = approval.clone();
            } else {
                item["type"] = json!("user.tool_response");
                item["content"] = json!(response);
            }
            items.push(item);
        }
    }
    json!({ "input": items })
}
