//! A client tested against a server that is a table: inputs and the expected outputs.

mod calls;
mod held;
mod loss;
mod schedules;
mod streams;
mod time;

use crate::error::{Error, ErrorCode};
use crate::json::Value;
use crate::protocol::turn_rpc::{Dialect, TurnRpc};
use crate::protocol::{AnyProtocol, Call, Protocol};
use crate::rpc::{Message, Messages};

use super::{Connection, Input, Limits, Output};

/// The response to the greeting, which names the workspace.
const HELLO: &str = r#"{"workspace":{"id":"ws_1"}}"#;
const MIB: u64 = 1024 * 1024;

/// A client and the server's side of it.
struct Play {
    connection: Connection<AnyProtocol>,
    now: u64,
    /// The socket's buffered bytes.
    buffered: Option<u64>,
    /// The ids and methods of the sent requests.
    requests: Vec<(String, String)>,
    /// The sent messages, unchanged.
    sent: Vec<String>,
    /// The responses and errors of calls, and the messages of streams.
    told: Vec<String>,
    /// The delays of wake-ups.
    wakes: Vec<String>,
}

impl Play {
    fn of(dialect: Dialect) -> Self {
        Self::over(TurnRpc::new(dialect))
    }

    fn over(protocol: TurnRpc) -> Self {
        let limits = Limits { connect_timeout: 1000, largest_response: 2000 };
        Self {
            connection: Connection::new(protocol.into(), limits, "ABCDEFGHIJKLM".to_owned()),
            now: 1_800_000_000_000,
            buffered: Some(0),
            requests: Vec::new(),
            sent: Vec::new(),
            told: Vec::new(),
            wakes: Vec::new(),
        }
    }

    /// A connected client of the gateway, after a call that got its response.
    fn connected() -> Self {
        let mut play = Self::of(Dialect::Gateway);
        play.asks(1, Call::GetSession, r#"{"sessionId":"s1"}"#);
        play.hears(Input::Opened);
        play.replies("workspace/default", HELLO);
        assert_eq!(play.replies("thread/get", &thread("s1", 1)), ["answer 1"]);
        play
    }

    /// The same while a turn of thread `s1` is read, as call 2.
    fn streaming() -> Self {
        let mut play = Self::connected();
        play.starts(2);
        play.replies("thread/start", &thread("s1", 1));
        assert_eq!(play.replies("turn/start", r#"{"turn":{"id":"u"}}"#), ["answer 2"]);
        play.hears(Input::Read(2));
        play
    }

    /// Passes in an input; returns the outputs.
    fn hears(&mut self, input: Input<'_, Call>) -> Vec<String> {
        self.connection.handle_input(input, self.now);
        let mut done = Vec::new();
        while let Some(output) = self.connection.poll_output(self.buffered) {
            match output {
                Output::Send(text) => {
                    let message = Value::parse(&text).expect("JSON");
                    let message = message.as_object().expect("an object");
                    let method = message.text("method");
                    if message.contains("id") && !method.is_empty() {
                        assert_eq!(message.text("id").len(), 21);
                        self.requests.push((message.text("id").to_owned(), method.to_owned()));
                    }
                    let own = message.text("turnwire");
                    let method = if own.is_empty() { method } else { own };
                    done.push(if method.is_empty() { "respond".to_owned() } else { method.to_owned() });
                    self.sent.push(text);
                }
                Output::WakeIn(delay) => self.wakes.push(delay.to_string()),
                output => done.push(self.shown(output)),
            }
        }
        done
    }

    fn shown(&mut self, output: Output) -> String {
        let code = |error: &Error| match error.status {
            Some(status) => format!("{} {status}", error.code.as_str()),
            None => error.code.as_str().to_owned(),
        };
        match output {
            Output::Connect => "connect".to_owned(),
            Output::Close => "close".to_owned(),
            Output::Gather(id) => format!("gather {id}"),
            Output::Deliver(id, messages) => {
                let count = messages.len();
                self.told.extend(messages);
                if count == 0 { format!("deliver {id}") } else { format!("deliver {id} kept {count}") }
            }
            Output::Respond { id, answer: Ok(answer), .. } => {
                self.told.push(answer);
                format!("answer {id}")
            }
            Output::Respond { id, answer: Err(error), is_unsent } => {
                self.told.push(error.message.clone());
                format!("fail {id} {}{}", code(&error), if is_unsent { " unsent" } else { "" })
            }
            Output::End { id, error: None, .. } => format!("end {id}"),
            Output::End { id, error: Some(error), silence } => {
                self.told.push(error.message.clone());
                let silence = if silence > 0 { format!(" after {silence}") } else { String::new() };
                format!("end {id} {}{silence}", code(&error))
            }
            Output::Send(_) | Output::WakeIn(_) => unreachable!("they are taken before"),
        }
    }

    /// Makes a call with a limit of half a second, and of two seconds of silence if it streams.
    fn asks(&mut self, id: u32, call: Call, params: &str) -> Vec<String> {
        self.hears(Input::Ask { id, call, params, timeout: 500, idle_timeout: 2000 })
    }

    fn starts(&mut self, id: u32) -> Vec<String> {
        let params = r#"{"sessionId":"s1","turnId":"u","input":[{"type":"user.message","content":"Hi"}]}"#;
        self.asks(id, Call::CreateTurnStream, params)
    }

    /// The same with Codex, whose server makes the ids of turns.
    fn starts_codex(&mut self, id: u32) -> Vec<String> {
        let params = r#"{"sessionId":"s1","input":[{"type":"user.message","content":"Hi"}]}"#;
        self.asks(id, Call::CreateTurnStream, params)
    }

    fn resumes(&mut self, id: u32) -> Vec<String> {
        self.asks(id, Call::SubscribeTurn, r#"{"sessionId":"s1","turnId":"u"}"#)
    }

    /// The server's response to the oldest open request with this method.
    fn responds(&mut self, method: &str, what: &str) -> Vec<String> {
        let at = self.requests.iter().position(|(_, asked)| asked == method).expect(method);
        let (id, _) = self.requests.remove(at);
        let message = format!(r#"{{"jsonrpc":"2.0","id":"{id}",{what}}}"#);
        self.hears(Input::Message(&message))
    }

    fn replies(&mut self, method: &str, result: &str) -> Vec<String> {
        self.responds(method, &format!(r#""result":{result}"#))
    }

    fn refuses(&mut self, method: &str, code: i64) -> Vec<String> {
        self.responds(method, &format!(r#""error":{{"code":{code},"message":"no"}}"#))
    }

    fn tells(&mut self, method: &str, params: &str) -> Vec<String> {
        self.hears(Input::Message(&format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#)))
    }

    /// Lets this many milliseconds pass.
    fn passes(&mut self, time: u64) -> Vec<String> {
        self.now += time;
        self.hears(Input::Tick)
    }

    /// The last requested wake-up.
    fn wake(&self) -> &str {
        self.wakes.last().expect("there is one")
    }
}

/// A thread created this many seconds after the first one.
fn thread(id: &str, created_at: u32) -> String {
    format!(
        r#"{{"thread":{{"id":"{id}","workspace_id":"ws_1","mode":"Chat","created_at":{},"turns":[]}}}}"#,
        1_700_000_000 + created_at
    )
}
