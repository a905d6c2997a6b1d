//! A gateway on a free port, and a client that writes down what both sides say.

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::Response;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};
use turnwire_gateway::Config;

use crate::listen::{self, PATIENCE, listen};

use super::check::check;

pub(crate) const WORKSPACE: &str = "ws_000000000000000001";
pub(crate) const THREAD: &str = "thr_000000000000000001";
pub(crate) const TURN: &str = "trn_000000000000000001";

/// A running gateway. It ends with the test's runtime.
pub(crate) struct Gateway {
    pub(crate) address: String,
    client: reqwest::Client,
}

/// A WebSocket to it.
pub(crate) struct Client {
    pub(crate) socket: WebSocketStream<TcpStream>,
    requests: u64,
    /// What came while something else was waited for.
    waiting: VecDeque<Value>,
    /// Both directions, a line each.
    pub(crate) record: Vec<Value>,
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

    /// Tries to open a socket, with these headers.
    pub(crate) async fn open(
        &self,
        query: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<(Client, Response<Option<Vec<u8>>>), Error> {
        let url = format!("ws://{}/turn-rpc{query}", self.address);
        let mut request = url.into_client_request().expect("a request");
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().expect("a value"));
        }
        let stream = TcpStream::connect(&self.address).await.expect("a connection");
        stream.set_nodelay(true).expect("set");
        let (socket, response) = within(client_async(request, stream)).await?;
        Ok((Client { socket, requests: 0, waiting: VecDeque::new(), record: Vec::new() }, response))
    }

    /// A socket under these faults.
    pub(crate) async fn connect_with(&self, fault: &str) -> Client {
        self.open(&format!("?fault={fault}"), &[]).await.expect("a socket").0
    }

    pub(crate) async fn connect(&self) -> Client {
        self.open("", &[]).await.expect("a socket").0
    }

    /// A socket that is subscribed to a new thread.
    pub(crate) async fn ready(&self, mode: &str) -> Client {
        self.ready_with(mode, "none").await
    }

    pub(crate) async fn ready_with(&self, mode: &str, fault: &str) -> Client {
        let mut client = self.connect_with(fault).await;
        client.start_thread(json!({"mode": mode, "sandbox": "FullAccess"})).await;
        client
    }

    /// A request to the gateway's own endpoints.
    pub(crate) async fn control(&self, method: Method, path: &str, body: Value) -> Value {
        let url = format!("http://{}/_gateway{path}", self.address);
        let answer = self.client.request(method, url).json(&body).send().await.expect("an answer");
        let text = answer.text().await.expect("a body");
        serde_json::from_str(&text).unwrap_or(Value::String(text))
    }

    /// Plans faults for a thread, or for sockets.
    pub(crate) async fn plan(&self, session: &str, schedule: Value) {
        let path = format!("/sessions/{session}/faults?ahead=true");
        let planned = self.control(Method::PUT, &path, schedule).await;
        assert!(planned.is_array(), "{planned}");
    }
}

impl Client {
    /// Sends a request and returns its id.
    pub(crate) async fn send(&mut self, method: &str, params: Value) -> String {
        self.requests += 1;
        let id = format!("rq{:019}", self.requests);
        let frame = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.write_down("C->S", &frame);
        self.send_text(&frame.to_string()).await;
        id
    }

    pub(crate) async fn send_text(&mut self, text: &str) {
        self.socket.send(Message::text(text)).await.expect("sent");
    }

    /// Sends a request, and returns its whole response. What comes before stays for later.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        self.response(&id).await
    }

    pub(crate) async fn response(&mut self, id: &str) -> Value {
        if let Some(index) = self.waiting.iter().position(|frame| frame["id"] == id) {
            return self.waiting.remove(index).expect("it is there");
        }
        loop {
            let frame = self.receive().await;
            if frame["id"] == id {
                return frame;
            }
            self.waiting.push_back(frame);
        }
    }

    /// The result of a request.
    pub(crate) async fn call(&mut self, method: &str, params: Value) -> Value {
        let response = self.request(method, params).await;
        assert!(response.get("error").is_none(), "{method}: {response}");
        response["result"].clone()
    }

    /// The code and the message of a request's error.
    pub(crate) async fn error(&mut self, method: &str, params: Value) -> (i64, String) {
        error_of(&self.request(method, params).await)
    }

    /// The next frame, be it one that has come before.
    pub(crate) async fn next(&mut self) -> Value {
        match self.waiting.pop_front() {
            Some(frame) => frame,
            None => self.receive().await,
        }
    }

    async fn receive(&mut self) -> Value {
        match self.message().await {
            Message::Text(text) => {
                let frame: Value = serde_json::from_str(&text).unwrap_or_else(|_| json!({"raw": *text}));
                self.write_down("S->C", &frame);
                frame
            }
            other => panic!("no text: {other:?}"),
        }
    }

    /// The next message, whatever it is.
    pub(crate) async fn message(&mut self) -> Message {
        let message = within(self.socket.next()).await.expect("a message");
        message.unwrap_or_else(|error| panic!("{error} after {:?}", self.record.last()))
    }

    /// How the socket ends: by a message, or an error. What comes before is written down.
    pub(crate) async fn end(&mut self) -> Option<Result<Message, Error>> {
        loop {
            match within(self.socket.next()).await {
                Some(Ok(Message::Text(text))) => {
                    let frame: Value = serde_json::from_str(&text).unwrap_or_default();
                    self.write_down("S->C", &frame);
                    self.waiting.push_back(frame);
                }
                end => return end,
            }
        }
    }

    /// Whether nothing comes for a while.
    pub(crate) async fn is_silent(&mut self) -> bool {
        self.waiting.is_empty() && timeout(Duration::from_millis(150), self.socket.next()).await.is_err()
    }

    /// Frames up to a notification of one of these methods, which is included.
    pub(crate) async fn until(&mut self, methods: &[&str]) -> Vec<Value> {
        let mut frames = Vec::new();
        loop {
            let frame = self.next().await;
            let found = frame["method"].as_str().is_some_and(|method| methods.contains(&method));
            frames.push(frame);
            if found {
                return frames;
            }
        }
    }

    /// Frames up to the end of a turn.
    pub(crate) async fn read_turn(&mut self) -> Vec<Value> {
        self.until(&["turn/completed", "turn/failed"]).await
    }

    /// Starts or resumes the thread: the result. The notification of it is taken as well.
    pub(crate) async fn start_thread(&mut self, mut params: Value) -> Value {
        params["thread_id"] = json!(THREAD);
        params["workspace_id"] = json!(WORKSPACE);
        let result = self.call("thread/start", params).await;
        let started = self.until(&["thread/started"]).await;
        assert_eq!(started.last().expect("one")["params"]["thread"]["id"], THREAD);
        result
    }

    /// Starts the turn with these words.
    pub(crate) async fn start_turn(&mut self, words: &str) {
        self.start_turn_with(words, json!({})).await;
    }

    pub(crate) async fn start_turn_with(&mut self, words: &str, params: Value) {
        let params = turn(TURN, words, params);
        let result = self.call("turn/start", params).await;
        assert_eq!(result["turn"]["status"], "InProgress");
    }

    /// A whole turn: what comes after the response.
    pub(crate) async fn play(&mut self, words: &str) -> Vec<Value> {
        self.start_turn(words).await;
        self.read_turn().await
    }

    /// The events that are kept of the turn.
    pub(crate) async fn items(&mut self) -> Vec<Value> {
        let items = self.call("turn/items", json!({"thread_id": THREAD, "turn_id": TURN})).await;
        items["events"].as_array().expect("events").clone()
    }

    /// The status and the error of the turn.
    pub(crate) async fn outcome(&mut self) -> (String, Value) {
        let turn = self.call("turn/get", json!({"thread_id": THREAD, "turn_id": TURN})).await["turn"].clone();
        (text(&turn["status"]), turn["error"].clone())
    }

    fn write_down(&mut self, direction: &str, frame: &Value) {
        let time = self.record.len();
        self.record.push(json!({"t": time, "conn": 1, "dir": direction, "frame": frame}));
    }

    /// What both sides have said, as JSONL.
    pub(crate) fn jsonl(&self) -> String {
        jsonl(&self.record)
    }

    /// Leaves what was said in a file of the build's folder, for `check-frames.py`.
    pub(crate) fn keep(&self, name: &str) {
        let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("turn-rpc");
        std::fs::create_dir_all(&folder).expect("a folder");
        let name = name.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        std::fs::write(folder.join(format!("{name}.jsonl")), self.jsonl()).expect("written");
    }

    /// Fails if anything that was said is wrong.
    pub(crate) fn check(&self) {
        let findings = check(&self.jsonl());
        assert!(findings.is_empty(), "{findings:#?}");
    }
}

/// Values as JSONL.
pub(crate) fn jsonl(lines: &[Value]) -> String {
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    lines.join("\n")
}

/// The parameters of a turn that begins with words.
pub(crate) fn turn(id: &str, words: &str, mut params: Value) -> Value {
    params["thread_id"] = json!(THREAD);
    params["turn_id"] = json!(id);
    params["input"] = json!([{"type": "text", "text": words, "textElements": []}]);
    params
}

pub(crate) fn error_of(response: &Value) -> (i64, String) {
    assert!(response.get("result").is_none(), "{response}");
    let error = &response["error"];
    (error["code"].as_i64().unwrap_or_else(|| panic!("no error: {response}")), text(&error["message"]))
}

/// The string of a value.
pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("not a string: {value}")).to_owned()
}

/// Methods with the types of their items: `item/started reasoning`. A row of the same counts once.
pub(crate) fn outline(frames: &[Value]) -> Vec<String> {
    let mut lines: Vec<String> = frames
        .iter()
        .map(|frame| {
            let method = frame["method"].as_str().unwrap_or("response");
            let params = &frame["params"];
            let detail = [&params["item"]["type"], &params["stream"], &params["item_type"]];
            match detail.into_iter().find_map(Value::as_str) {
                Some(detail) => format!("{method} {detail}"),
                None => method.to_owned(),
            }
        })
        .collect();
    lines.dedup();
    lines
}

/// The items that were completed, in order.
pub(crate) fn completed(frames: &[Value]) -> Vec<Value> {
    let completed = frames.iter().filter(|frame| frame["method"] == "item/completed");
    completed.map(|frame| frame["params"]["item"].clone()).collect()
}

/// The deltas of an item, joined.
pub(crate) fn joined(frames: &[Value], item: &Value) -> String {
    let deltas = frames.iter().filter(|frame| frame["params"]["item_id"] == *item);
    deltas.filter_map(|frame| frame["params"]["delta"].as_str()).collect()
}

pub(crate) async fn within<F: Future>(future: F) -> F::Output {
    timeout(PATIENCE, future).await.expect("in time")
}
