//! Plays a turn's driver: takes what happens, and returns each step as a few words, so that a rule is a table.
//!
//! - `newest`, `newest from p2`, `post`, `post stream`, `look`, `read`, `subscribe after 3` (`again after 3` where it resumes; `at c3` where
//!   the server names places; `repeat after 3` where the server repeats the turn), `frames`, `answer`, `session`, `list`, `list from p2`, `calls` (of earlier
//!   turns): a request;
//! - `wait 250 #1 network`, `wait 1250>=1000 #2 http 503`: a pause before an attempt, its minimum, the number of the
//!   attempt, and the reason;
//! - `wait 500 for turn`: a wait before a read, and what it is for;
//! - `end done`, `end incomplete: http 404`: the end, the turn's status, and the report.

use std::ops::RangeInclusive;

use serde_json::{Value as Json, json};

use crate::delivery::{EVENT_STRIDE, TextArena, kind};
use crate::error::{Error, ErrorCode};
use crate::json::Value;
use crate::protocol::truefoundry::{Dialect, TrueFoundry};
use crate::protocol::{Call, Protocol};
use crate::turn::{
    Failure, Moment, Newest, Outcome, Pause, Plan, Reconnect, StartTrace, Step, TurnDriver, TurnInput,
    TurnMachine, TurnReader, Waiting,
};

/// The maximum size of a frame in bytes.
pub(in crate::turn) const FRAME_LIMIT: usize = 4096;

/// What happens.
#[derive(Debug, Clone)]
pub(in crate::turn) enum Act {
    /// The head of a stream, these bytes, and its end.
    Brings(String),
    /// The same, after this many milliseconds.
    Stands(f64, String),
    /// The head of a stream, these bytes, and then this failure.
    Breaks(String, Failure),
    /// The request fails.
    Fails(Failure),
    Answers(Json),
    Aborted,
    Unsent,
    Waited,
}

pub(in crate::turn) struct Play {
    pub(in crate::turn) driver: TurnDriver,
    protocol: Box<dyn Protocol>,
    now: f64,
    step: Option<Step>,
}

impl Play {
    pub(in crate::turn) fn new() -> Self {
        Self::following("")
    }

    /// A turn that follows another one.
    pub(in crate::turn) fn following(previous_turn_id: &str) -> Self {
        Self::of(Box::new(TrueFoundry::new(Dialect::Gateway)), Value::from("hi"), previous_turn_id)
    }

    /// A turn of this protocol with this input.
    pub(in crate::turn) fn of(protocol: Box<dyn Protocol>, input: Value<'_>, previous_turn_id: &str) -> Self {
        let mut reader = TurnReader::new(&*protocol, TurnMachine::unstarted(), FRAME_LIMIT);
        reader.set_wants_events(true);
        let mut driver = TurnDriver::new(reader, "s", previous_turn_id);
        driver.set_input(TurnInput::read(input, &protocol.capabilities()).expect("an input"));
        Self { driver, protocol, now: 0.0, step: None }
    }

    /// Begins to stream; returns the first step.
    pub(in crate::turn) fn stream(&mut self, reconnect: Reconnect) -> String {
        self.begin(|driver| driver.stream(None, reconnect, trace()))
    }

    /// The same with this knowledge of the session's turns.
    pub(in crate::turn) fn stream_traced(&mut self, trace: StartTrace) -> String {
        self.begin(|driver| driver.stream(None, Reconnect::default(), trace))
    }

    /// The same without any knowledge of the session's turns.
    pub(in crate::turn) fn stream_unknown(&mut self) -> String {
        self.begin(|driver| driver.stream(None, Reconnect::default(), StartTrace::default()))
    }

    /// The same without recovery.
    pub(in crate::turn) fn stream_off(&mut self) -> String {
        self.begin(|driver| driver.stream(None, Reconnect::OFF, StartTrace::default()))
    }

    /// Begins to start without any knowledge of the session's turns; returns the first step.
    pub(in crate::turn) fn start_unknown(&mut self) -> String {
        self.begin(|driver| driver.start(Reconnect::default(), StartTrace::default()))
    }

    /// Begins to start; returns the first step.
    pub(in crate::turn) fn start(&mut self) -> String {
        self.begin(|driver| driver.start(Reconnect::default(), trace()))
    }

    /// Begins to bring the turn to its end; returns the first step.
    pub(in crate::turn) fn complete(&mut self) -> String {
        self.begin(|driver| driver.complete(Reconnect::default(), trace()))
    }

    /// Takes the server's record of the turn.
    pub(in crate::turn) fn found(&mut self, record: &Json) {
        let text = record.to_string();
        let record = Value::parse(&text).expect("JSON");
        let record = record.as_object().expect("an object");
        self.driver.reader_mut().machine_mut().created(record.text("id"));
        self.driver.take_state(record.object("state").expect("a state"));
    }

    /// Begins to look; returns the first step.
    pub(in crate::turn) fn look(&mut self) -> String {
        self.begin(|driver| driver.look(Reconnect::default()))
    }

    /// Takes what happens; returns the next step.
    pub(in crate::turn) fn next(&mut self, act: Act) -> String {
        let (stood, bytes, outcome) = match act {
            Act::Brings(bytes) => (0.0, Some(bytes), Outcome::Ended),
            Act::Stands(stood, bytes) => (stood, Some(bytes), Outcome::Ended),
            Act::Breaks(bytes, failure) => (0.0, Some(bytes), Outcome::Failed(failure)),
            Act::Fails(failure) => (0.0, None, Outcome::Failed(failure)),
            Act::Answers(json) => return self.tell(Outcome::Answered(&json.to_string())),
            Act::Aborted => (0.0, None, Outcome::Aborted),
            Act::Unsent => (0.0, None, Outcome::Unsent),
            Act::Waited => (0.0, None, Outcome::Waited),
        };
        if let Some(bytes) = bytes {
            self.driver.opened(self.now);
            let reader = self.driver.reader_mut();
            if reader.capabilities().has_socket() {
                // One whole message per line.
                let _ = bytes.lines().try_for_each(|message| reader.push_message(message));
            } else {
                let _ = reader.push(bytes.as_bytes());
            }
        }
        self.now += stood;
        self.tell(outcome)
    }

    /// Takes what happens, one after the other, and checks the step after each.
    pub(in crate::turn) fn plays(&mut self, name: &str, script: &[(Act, &str)]) {
        for (at, (act, expected)) in script.iter().enumerate() {
            assert_eq!(self.next(act.clone()), *expected, "{name}, step {at}: after {act:?}");
        }
    }

    pub(in crate::turn) fn content(&self) -> &str {
        self.driver.reader().index().message("m").map_or("", |message| message.content())
    }

    fn begin(&mut self, begin: impl FnOnce(&mut TurnDriver) -> Result<Step, Error>) -> String {
        let step = begin(&mut self.driver).expect("it can begin");
        self.words(step)
    }

    fn tell(&mut self, outcome: Outcome<'_>) -> String {
        let step = self.driver.next(outcome, Moment { now: self.now, random: 0.5 });
        self.words(step)
    }

    /// The events delivered since the last call: texts as `+text`, others by type and, for messages and results, id.
    pub(in crate::turn) fn delivered(&mut self) -> Vec<String> {
        let mut taken = (Vec::new(), TextArena::default());
        self.driver.reader_mut().batch().take(&mut taken);
        let (records, text) = taken;
        let records = records.chunks(EVENT_STRIDE).filter(|record| record[0] & 0xff != kind::NAME);
        let word = |record: &[u32]| {
            let span = record[5] as usize..(record[5] + record[6]) as usize;
            let text = str::from_utf8(&text.ascii()[span]).expect("ASCII").to_owned();
            if record[0] & 0xff != kind::JSON {
                return format!("+{text}");
            }
            let event: Json = serde_json::from_str(&text).expect("JSON");
            let kind = event["type"].as_str().expect("a type");
            match kind {
                "model.message" | "tool.response" => {
                    format!("{kind} {}", event["id"].as_str().expect("an id"))
                }
                _ => kind.to_owned(),
            }
        };
        records.map(word).collect()
    }

    /// The last step.
    pub(in crate::turn) fn step(&self) -> Option<&Step> {
        self.step.as_ref()
    }

    /// The parameters of the last request.
    pub(in crate::turn) fn params(&self) -> Json {
        let Some(Step::Open(plan) | Step::Ask(plan)) = &self.step else { panic!("{:?}", self.step) };
        serde_json::from_str(&plan.params).expect("JSON")
    }

    /// The error reported at the end.
    pub(in crate::turn) fn reported(&self) -> &str {
        let Some(Step::End(Err(error))) = &self.step else { panic!("{:?}", self.step) };
        &error.message
    }

    fn words(&mut self, step: Step) -> String {
        if let Step::Open(plan) | Step::Ask(plan) = &step {
            let params = Value::parse(&plan.params).expect("JSON");
            let mut params = params.as_object().expect("an object").clone();
            if self.protocol.capabilities().has_socket() {
                let connection = Value::parse(r#"{"workspace_id":"w"}"#).expect("JSON");
                params.set("connection", connection);
                let messages = self.protocol.messages(plan.call, params);
                assert!(messages.is_ok(), "{plan:?}: {messages:?}");
            } else {
                let request = self.protocol.request(plan.call, params);
                assert!(request.is_ok(), "{plan:?}: {request:?}");
            }
        }
        match self.step.insert(step) {
            Step::Open(plan) => request(plan, true),
            Step::Ask(plan) => request(plan, false),
            Step::Wait(Waiting { delay, awaited }) => format!("wait {delay} for {}", awaited.as_str()),
            Step::Retry(Pause { delay, least, attempt, cause }) => {
                assert!((0.0..=*delay).contains(least));
                let least = if *least > 0.0 { format!(">={least}") } else { String::new() };
                format!("wait {delay}{least} #{attempt} {}", of(cause))
            }
            Step::End(ended) => {
                let machine = self.driver.reader().machine();
                assert!(!machine.is_streaming());
                let status = machine.status().as_str();
                match ended {
                    Ok(()) => format!("end {status}"),
                    Err(error) => format!("end {status}: {}", of(error)),
                }
            }
        }
    }
}

/// A turn whose stream brought these [`frames`] and has not been interrupted.
pub(in crate::turn) fn started(numbers: RangeInclusive<u64>) -> Play {
    let mut play = Play::new();
    assert_eq!(play.stream(Reconnect::default()), "post stream");
    play.driver.opened(0.0);
    play.driver.reader_mut().push(frames(numbers).as_bytes()).expect("frames are small");
    play
}

fn request(plan: &Plan, opens: bool) -> String {
    assert_eq!(plan.call.streams(), opens);
    let params: Json = serde_json::from_str(&plan.params).expect("JSON");
    assert_eq!(params["session_id"], "s");
    let after = params["after_sequence_number"].as_u64().unwrap_or_default();
    match (plan.call, plan.resumes_after) {
        (Call::CreateTurnStream, None) => "post stream".to_owned(),
        (Call::CreateTurn, None) => "post".to_owned(),
        (Call::ListTurns, None) => "look".to_owned(),
        (Call::ListNewestTurns, None) => from("newest", &params["page_token"]),
        (Call::GetTurn, None) => "read".to_owned(),
        (Call::SubscribeTurn, told) if params["cursor"].is_string() => {
            assert_eq!(params["after_sequence_number"], Json::Null);
            let verb = if told.is_some() { "again" } else { "subscribe" };
            format!("{verb} at {}", params["cursor"].as_str().unwrap_or_default())
        }
        (Call::SubscribeTurn, told) if params["place"].is_string() => {
            let verb = if told.is_some() { "again" } else { "attach" };
            format!("{verb} {}", params["place"].as_str().unwrap_or_default())
        }
        (Call::SubscribeTurn, None) => format!("subscribe after {after}"),
        (Call::SubscribeTurn, Some(told)) if params["is_begun"].is_boolean() => {
            assert_eq!(params["input"][0]["content"], "hi");
            format!("repeat after {told}")
        }
        (Call::SubscribeTurn, Some(told)) => {
            assert_eq!(told, after);
            format!("again after {after}")
        }
        (Call::ListTurnEvents, None) => from("list", &params["page_token"]),
        (Call::ListTurnFrames, None) => from("frames", &params["cursor"]),
        (Call::AnswerTurn, None) => {
            let items = params["input"].as_array().expect("a list");
            assert_eq!((items.len(), &params["turn_id"]), (1, &json!("t")));
            format!("answer {}", items[0]["tool_call_id"].as_str().expect("a call"))
        }
        (Call::GetSession, None) => "session".to_owned(),
        (Call::ListSessionEvents, None) => {
            assert!(params["page_token"].is_string() || params["last_turn_id"] == "t");
            from("calls", &params["page_token"])
        }
        other => panic!("{other:?}"),
    }
}

fn from(what: &str, token: &Json) -> String {
    token.as_str().map_or(what.to_owned(), |token| format!("{what} from {token}"))
}

fn of(error: &Error) -> String {
    error
        .status
        .map_or_else(|| error.code.as_str().to_owned(), |status| format!("{} {status}", error.code.as_str()))
}

/// 2026-07-01T10:00:10Z
const STARTED_AT: u64 = 1_782_900_010_000;

pub(in crate::turn) fn trace() -> StartTrace {
    StartTrace { newest: Newest::None, started_at: STARTED_AT, ..StartTrace::default() }
}

/// The events of the turn `t`, from number 1 on.
fn log() -> [Json; 6] {
    let delta = |field: &str, text: &str| json!({"type": "model.message.delta", "id": "m", "thread_id": "main", field: text});
    [
        json!({"type": "turn.created", "id": "e1", "turn_id": "t", "input": []}),
        json!({"type": "model.message", "id": "m", "thread_id": "main"}),
        delta("content", "a"),
        delta("content", "b"),
        delta("finish_reason", "stop"),
        json!({"type": "turn.done", "id": "e6", "state": ended()}),
    ]
}

fn ended() -> Json {
    json!({"status": "done", "output": null, "required_actions": []})
}

/// The request to approve the call `c` of message `m`.
pub(in crate::turn) fn asking_for_call() -> Json {
    json!({"type": "tool.approval_required", "id": "q", "thread_id": "main",
           "tool_calls": [{"id": "c", "source_event_id": "m"}]})
}

/// The message `m` that makes the call `c`, as it is listed.
pub(in crate::turn) fn calling() -> Json {
    json!({"type": "model.message", "id": "m", "thread_id": "main", "finish_reason": "tool_calls",
           "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]})
}

/// The server's record of the turn while that call is pending.
pub(in crate::turn) fn paused() -> Json {
    let mut paused = record("done");
    paused["state"]["required_actions"] = json!([asking_for_call()]);
    paused
}

/// These events of the turn's stream.
pub(in crate::turn) fn frames(numbers: RangeInclusive<u64>) -> String {
    let log = (1..).zip(log()).filter(|(id, _)| numbers.contains(id));
    log.map(|(id, event)| format!("data: {event}\nid: {id}\n\n")).collect::<Vec<_>>().concat()
}

/// The same events with their numbers in the JSON.
pub(in crate::turn) fn numbered(numbers: RangeInclusive<u64>) -> String {
    let log = (1..).zip(log()).filter(|(number, _)| numbers.contains(number));
    let frame = |(number, mut event): (u64, Json)| {
        event["sequence_number"] = number.into();
        format!("data: {event}\n\n")
    };
    log.map(frame).collect::<Vec<_>>().concat()
}

/// The same events without their numbers.
pub(in crate::turn) fn unnumbered(numbers: RangeInclusive<u64>) -> String {
    let log = (1..).zip(log()).filter(|(id, _)| numbers.contains(id));
    log.map(|(_, event)| format!("data: {event}\n\n")).collect::<Vec<_>>().concat()
}

/// The server's record of the turn.
pub(in crate::turn) fn record(status: &str) -> Json {
    let state = if status == "done" { ended() } else { json!({"status": status}) };
    json!({"id": "t", "session_id": "s", "previous_turn_id": null, "state": state,
           "input": [{"type": "user.message", "content": "hi"}], "created_at": "2026-07-01T10:00:30Z"})
}

/// A page of a list.
pub(in crate::turn) fn page(items: &[Json], next: Option<&str>) -> Json {
    json!({"items": items, "next": next})
}

/// The whole message, as it is listed.
pub(in crate::turn) fn listed() -> Json {
    json!({"type": "model.message", "id": "m", "thread_id": "main", "content": "ab", "finish_reason": "stop"})
}

pub(in crate::turn) fn http(status: u16) -> Failure {
    Error::new(ErrorCode::Http, "no").with_status(Some(status)).into()
}

pub(in crate::turn) fn of_code(code: ErrorCode) -> Failure {
    Error::new(code, "it broke").into()
}

pub(in crate::turn) fn network() -> Failure {
    of_code(ErrorCode::Network)
}

/// The failure with this `Retry-After`, in milliseconds.
pub(in crate::turn) fn asking(mut failure: Failure, retry_after: u32) -> Failure {
    failure.retry_after = retry_after;
    failure
}

pub(in crate::turn) fn offline() -> Failure {
    Failure { is_offline: true, ..network() }
}
