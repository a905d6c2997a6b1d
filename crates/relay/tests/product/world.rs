//! A relay in a separate process, and clients that read its streams.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use reqwest::{Client, Method, RequestBuilder, Response};

use crate::wire::{Server, Wire, within};

pub(crate) const STREAM: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
pub(crate) const STOP: &str = "event: turn_stop\ndata: {\"stopReason\":\"end_turn\"}\n\n";

/// A directory that is removed with the test.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name =
            format!("turnwire-relay-test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A log in this directory, as a config names it.
    pub(crate) fn log(&self) -> String {
        format!("[log]\nstore = \"sqlite:{}\"\n", self.path("turns.db").display())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A running relay. It ends with the test, whatever happens.
pub(crate) struct Relay {
    child: Child,
    address: String,
    client: Client,
    token: Option<String>,
}

/// A config for one user, before this agent.
pub(crate) fn config(protocol: &str, url: &str, rest: &str) -> String {
    format!(
        "listen = \"127.0.0.1:0\"\ndrain = \"20s\"\n[identity.none]\n[upstream.a]\nprotocol = \"{protocol}\"\nurl = \"{url}\"\n{rest}"
    )
}

/// The same, where all sessions are everyone's.
pub(crate) fn open(server: &Server, rest: &str) -> String {
    config("aap", &format!("http://{}", server.address), &format!("sessions = \"open\"\n{rest}"))
}

impl Relay {
    pub(crate) fn start(config: &str) -> Self {
        Self::start_with(config, &[])
    }

    /// Starts it with further environment variables.
    pub(crate) fn start_with(config: &str, variables: &[(&str, &str)]) -> Self {
        let scratch = Scratch::new();
        let path = scratch.path("relay.toml");
        std::fs::File::create(&path).and_then(|mut file| file.write_all(config.as_bytes())).expect("written");
        let mut command = Command::new(env!("CARGO_BIN_EXE_turnwire-relay"));
        command.arg("serve").arg(&path).env("RELAY_TEST_KEY", "Bearer very-secret");
        command.envs(variables.iter().copied());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("a line");
        let address = line.trim().trim_end_matches('/').to_owned();
        if address.is_empty() {
            let mut problem = String::new();
            child.stderr.as_mut().expect("a pipe").read_to_string(&mut problem).expect("text");
            panic!("no relay: {problem}");
        }
        Self { child, address, client: Client::new(), token: None }
    }

    /// The address.
    pub(crate) fn url(&self) -> &str {
        &self.address
    }

    /// The address without its scheme.
    pub(crate) fn address(&self) -> &str {
        self.address.trim_start_matches("http://")
    }

    /// Requests go to this address from now on: that of a proxy in front.
    pub(crate) fn move_to(&mut self, address: &str) {
        self.address = format!("http://{address}");
    }

    pub(crate) fn with_token(&mut self, token: &str) {
        self.token = Some(token.to_owned());
    }

    /// A request of a client that knows the relay.
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.plain(method, path).header("turnwire-relay", "1");
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    /// A request of any client.
    pub(crate) fn plain(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.address))
    }

    /// A start of an AAP turn.
    pub(crate) fn turn(&self, turn: &str) -> RequestBuilder {
        let request = self.request(Method::POST, "/a/sessions/s/turns").header("turnwire-turn", turn);
        request.header("content-type", "application/json").body("{\"stream\":\"delta\",\"messages\":[]}")
    }

    /// The frames of a turn after this one.
    pub(crate) fn events(&self, turn: &str, after: u64) -> RequestBuilder {
        let request = self.request(Method::GET, &format!("/a/_turnwire/v1/turns/{turn}/events"));
        request.header("last-event-id", after.to_string())
    }

    /// Ends it at once, as a crash would.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("ended");
        self.child.wait().expect("ended");
    }

    /// Asks it to end.
    pub(crate) fn terminate(&self) {
        self.signal("-TERM");
    }

    pub(crate) fn pid(&self) -> String {
        self.child.id().to_string()
    }

    pub(crate) fn signal(&self, signal: &str) {
        let pid = self.pid();
        assert!(Command::new("kill").args([signal, &pid]).status().expect("run").success());
    }

    /// Waits for its end, and returns what it wrote to stderr.
    pub(crate) async fn ended(mut self) -> String {
        within(async {
            while self.child.try_wait().expect("its state").is_none() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
        .await;
        let mut log = String::new();
        self.child.stderr.as_mut().expect("a pipe").read_to_string(&mut log).expect("text");
        log
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The bytes of a stream as they come.
pub(crate) struct Stream {
    bytes: futures_util::stream::BoxStream<'static, reqwest::Result<bytes::Bytes>>,
    read: String,
}

impl Stream {
    pub(crate) fn of(response: Response) -> Self {
        assert_eq!(response.status(), 200);
        Self { bytes: response.bytes_stream().boxed(), read: String::new() }
    }

    /// Reads up to this text, and returns all so far.
    pub(crate) async fn until(&mut self, end: &str) -> &str {
        while !self.read.contains(end) {
            let Some(Ok(bytes)) = within(self.bytes.next()).await else {
                panic!("the end instead of {end:?} after {:?}", self.read)
            };
            self.read.push_str(std::str::from_utf8(&bytes).expect("text"));
        }
        &self.read
    }

    /// Reads to the end, and returns all. An error if the connection broke.
    pub(crate) async fn rest(mut self) -> Result<String, String> {
        while let Some(bytes) = within(self.bytes.next()).await {
            match bytes {
                Ok(bytes) => self.read.push_str(std::str::from_utf8(&bytes).expect("text")),
                Err(_) => return Err(self.read),
            }
        }
        Ok(self.read)
    }
}

pub(crate) async fn sent(request: RequestBuilder) -> Response {
    within(request.send()).await.expect("an answer")
}

pub(crate) async fn status(request: RequestBuilder) -> u16 {
    sent(request).await.status().as_u16()
}

/// An answer's JSON.
pub(crate) async fn json(request: RequestBuilder) -> serde_json::Value {
    within(sent(request).await.json()).await.expect("JSON")
}

/// A frame of text.
pub(crate) fn delta(text: &str) -> String {
    format!("event: text_delta\ndata: {{\"delta\":\"{text}\"}}\n\n")
}

/// The same as readers get it.
pub(crate) fn numbered(offset: u64, frame: &str) -> String {
    format!("id: {offset}\n{frame}")
}

impl Wire {
    /// Reads the body of the request whose head this is.
    pub(crate) async fn body(&mut self, head: &str) -> String {
        let head = head.to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
        let mut body = vec![0; length.trim().parse().expect("a number")];
        within(tokio::io::AsyncReadExt::read_exact(&mut self.0, &mut body)).await.expect("a body");
        String::from_utf8(body).expect("text")
    }

    /// Writes a part of a stream.
    pub(crate) async fn chunk(&mut self, text: &str) {
        self.write(&format!("{:X}\r\n{text}\r\n", text.len())).await;
    }

    /// Ends a stream in good order.
    pub(crate) async fn end(&mut self) {
        self.write("0\r\n\r\n").await;
    }

    /// Answers with JSON.
    pub(crate) async fn json(&mut self, status: &str, json: &str) {
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            json.len()
        );
        self.write(&format!("{head}{json}")).await;
    }
}
