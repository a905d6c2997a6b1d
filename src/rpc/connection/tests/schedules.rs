//! Random schedules of a client behind a relay: connections break anywhere, and nothing is lost or doubled.

use std::collections::{BTreeMap, VecDeque};

use proptest::prelude::*;

use super::*;

/// The next event.
#[derive(Debug, Clone, Copy)]
enum Act {
    /// The connection opens, if one is being opened.
    Opens,
    /// The client's oldest message arrives at the relay.
    Up,
    /// The relay's oldest message arrives at the client.
    Down,
    /// The server sends the next word of the turn.
    Speaks,
    /// The server answers its oldest request.
    Answers,
    /// The connection breaks; the messages in flight on it are lost.
    Breaks,
    /// The client makes a call.
    Asks,
    /// This many milliseconds pass.
    Passes(u16),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => Just(Act::Opens),
        8 => Just(Act::Up),
        8 => Just(Act::Down),
        5 => Just(Act::Speaks),
        4 => Just(Act::Answers),
        2 => Just(Act::Breaks),
        1 => Just(Act::Asks),
        3 => (0_u16..400).prop_map(Act::Passes),
    ]
}

/// A client, its connection, the relay, and the server.
struct World {
    client: Connection<AnyProtocol>,
    now: u64,
    /// Whether there is a socket, and whether it is open.
    socket: Option<bool>,
    up: VecDeque<String>,
    down: VecDeque<String>,
    /// The relay's numbered messages.
    journal: Vec<String>,
    is_attached: bool,
    /// How much of the journal was sent on this connection.
    told: usize,
    known: Vec<String>,
    /// The requests that the server received, in order, each with its id.
    asked: Vec<(String, String)>,
    /// The requests without a response.
    waiting: VecDeque<(String, String)>,
    spoken: u32,
    calls: u32,
    heard: Vec<String>,
    answers: BTreeMap<u32, u32>,
    failures: Vec<String>,
}

impl World {
    /// A turn is read as call 1, without a limit of silence.
    fn new() -> Self {
        let protocol = TurnRpc::new(Dialect::Gateway).behind_relay().expect("a relay can hold its socket");
        let limits = Limits { connect_timeout: 0, largest_response: 2000 };
        let mut world = Self {
            client: Connection::new(protocol.into(), limits, "ABCDEFGHIJKLM".to_owned()),
            now: 1_800_000_000_000,
            socket: None,
            up: VecDeque::new(),
            down: VecDeque::new(),
            journal: Vec::new(),
            is_attached: false,
            told: 0,
            known: Vec::new(),
            asked: Vec::new(),
            waiting: VecDeque::new(),
            spoken: 0,
            calls: 0,
            heard: Vec::new(),
            answers: BTreeMap::new(),
            failures: Vec::new(),
        };
        let params = r#"{"sessionId":"s1","turnId":"u","input":[{"type":"user.message","content":"Hi"}]}"#;
        world.asks(Call::CreateTurnStream, params);
        while world.answers.is_empty() {
            for act in [Act::Opens, Act::Up, Act::Answers, Act::Down] {
                world.does(act);
            }
        }
        world
    }

    fn asks(&mut self, call: Call, params: &str) {
        self.calls += 1;
        self.hears(Input::Ask { id: self.calls, call, params, timeout: 0, idle_timeout: 0 });
    }

    fn hears(&mut self, input: Input<'_, Call>) {
        self.client.handle_input(input, self.now);
        let mut streams = None;
        while let Some(output) = self.client.poll_output(self.socket.filter(|is_open| *is_open).map(|_| 0)) {
            match output {
                Output::Connect => {
                    assert_eq!(self.socket, None, "one connection at a time");
                    self.socket = Some(false);
                }
                Output::Close => self.parts(),
                Output::Send(text) => {
                    assert_eq!(self.socket, Some(true), "{text}");
                    self.up.push_back(text);
                }
                Output::Deliver(id, messages) => {
                    assert_eq!(id, 1);
                    self.heard.extend(messages);
                }
                Output::Respond { id, answer, .. } => {
                    *self.answers.entry(id).or_default() += 1;
                    match answer {
                        Ok(_) => streams = (id == 1).then_some(id).or(streams),
                        Err(error) => self.failures.push(format!("{id}: {}", error.message)),
                    }
                }
                Output::End { error, .. } => self.failures.push(format!("the stream: {error:?}")),
                Output::Gather(_) | Output::WakeIn(_) => {}
            }
        }
        if let Some(id) = streams {
            self.hears(Input::Read(id));
        }
    }

    fn parts(&mut self) {
        self.socket = None;
        self.is_attached = false;
        self.up.clear();
        self.down.clear();
    }

    /// The relay takes a message.
    fn gets(&mut self, text: &str) {
        let message = Value::parse(text).expect("JSON");
        let object = message.as_object().expect("an object");
        if !self.is_attached {
            assert_eq!(object.text("turnwire"), "attach", "the first message");
            self.is_attached = true;
            let after = object.get("after").and_then(Value::as_u64).unwrap_or(self.journal.len() as u64);
            self.told = usize::try_from(after).expect("small");
            let hello = format!(r#"{{"turnwire":"attached","log":"c0","after":{after},"whole":true}}"#);
            self.down.push_back(hello);
        } else if !self.known.contains(&object.text("id").to_owned()) {
            let request = (object.text("id").to_owned(), object.text("method").to_owned());
            self.known.push(request.0.clone());
            self.asked.push(request.clone());
            self.waiting.push_back(request);
        }
        self.tells();
    }

    /// The relay sends the client's missing messages.
    fn tells(&mut self) {
        while self.is_attached && self.told < self.journal.len() {
            self.told += 1;
            self.down.push_back(format!("{} {}", self.told, self.journal[self.told - 1]));
        }
    }

    fn speaks(&mut self) {
        self.spoken += 1;
        let params = format!(r#"{{"thread_id":"s1","turn_id":"u","item_id":"m","delta":"{}"}}"#, self.spoken);
        self.journal.push(format!(r#"{{"method":"item/agent_message/delta","params":{params}}}"#));
        self.tells();
    }

    fn does(&mut self, act: Act) {
        match act {
            Act::Opens if self.socket == Some(false) => {
                self.socket = Some(true);
                self.hears(Input::Opened);
            }
            Act::Up => {
                if let Some(text) = self.up.pop_front() {
                    self.gets(&text);
                }
            }
            Act::Down => {
                if let Some(text) = self.down.pop_front() {
                    self.hears(Input::Message(&text));
                }
            }
            Act::Speaks => self.speaks(),
            Act::Answers => {
                if let Some((id, method)) = self.waiting.pop_front() {
                    let result = match &*method {
                        "workspace/default" => HELLO.to_owned(),
                        "turn/start" => r#"{"turn":{"id":"u"}}"#.to_owned(),
                        _ => thread("s1", 1),
                    };
                    self.journal.push(format!(r#"{{"id":"{id}","result":{result}}}"#));
                    self.tells();
                }
            }
            Act::Breaks if self.socket.is_some() => {
                self.parts();
                self.hears(Input::Closed(1006, ""));
            }
            Act::Asks if self.calls < 20 => self.asks(Call::GetSession, r#"{"sessionId":"s1"}"#),
            Act::Passes(time) => {
                self.now += u64::from(time);
                self.hears(Input::Tick);
            }
            Act::Opens | Act::Breaks | Act::Asks => {}
        }
    }
}

proptest! {
    #[test]
    fn nothing_is_lost_or_doubled_wherever_connections_break(
        acts in prop::collection::vec(act(), 0..200),
    ) {
        let mut world = World::new();
        let began = world.now;
        for act in acts {
            // A longer time without a connection ends the calls in flight.
            if world.now - began < 9000 || !matches!(act, Act::Passes(_)) {
                world.does(act);
            }
        }
        world.speaks();
        for _ in 0..500 {
            for act in [Act::Opens, Act::Up, Act::Answers, Act::Down, Act::Passes(20)] {
                world.does(act);
            }
        }
        prop_assert!(world.failures.is_empty(), "{:?}", world.failures);
        let words: Vec<_> = world.heard.iter().filter(|message| message.contains("delta")).cloned().collect();
        let spoken: Vec<_> = world.journal.iter().filter(|message| message.contains("delta")).cloned().collect();
        prop_assert_eq!(words, spoken);
        prop_assert_eq!(world.answers.len(), world.calls as usize);
        prop_assert!(world.answers.values().all(|count| *count == 1));
        let starts = world.asked.iter().filter(|(_, method)| method == "turn/start").count();
        prop_assert_eq!(starts, 1);
        let reads = world.asked.iter().filter(|(_, method)| method == "thread/get").count();
        prop_assert_eq!(reads, world.calls as usize - 1);
        prop_assert_eq!(world.client.call_count(), 1);
    }
}
