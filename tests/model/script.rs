//! A turn as the server creates it: a random log of events of every kind, in the orders in which servers write them
//! (protocol note, sections 3.2 and 3.4), and what the server keeps of it.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::messages::{Draft, Listing, text};
use super::page::Uncut;
use super::random::Random;
use super::time::Millis;

pub(crate) const TURN_ID: &str = "turn-9";

/// An event as it is streamed. Its place in the log is its sequence number, from 1 on.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) data: String,
    /// The time since the event before it.
    pub(crate) delay: Millis,
}

/// A turn.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) log: Vec<Entry>,
    /// The list of the turn's events after its end, with the number at which each was complete.
    pub(crate) listed: Vec<(u64, Json)>,
    /// The number of the first event of each id.
    pub(crate) firsts: BTreeMap<String, u64>,
    /// The terminal state.
    pub(crate) state: Json,
    /// The messages that were never finished, and are not in the list.
    pub(crate) unfinished: Vec<String>,
}

/// How a turn ends.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Ending {
    Done,
    Paused,
    SignIn,
    Cancelled,
    Error,
}

impl Script {
    /// A turn, and the state of a page that reads it without faults.
    pub(crate) fn draw(random: &mut Random) -> (Self, Uncut) {
        let mut writer = Writer::new(random.fork());
        writer.write();
        let Writer { log, listings, state, .. } = writer;
        let keeps_partial = random.percent(30);
        let pace = random.pick(&[0, 1, 30, 200]);
        let log: Vec<Entry> =
            log.into_iter().map(|data| Entry { data, delay: delay(random, pace) }).collect();
        let uncut = Uncut::of(&log, log.len());
        let (listed, unfinished) = list(&log, listings, keeps_partial, &uncut);
        let firsts = numbers(&log).into_iter().rev().collect();
        (Self { log, listed, firsts, state, unfinished }, uncut)
    }

    /// From its beginning to its end.
    pub(crate) fn lasts(&self) -> Millis {
        self.log.iter().map(|entry| entry.delay).sum()
    }

    /// The number of the last event.
    pub(crate) fn last(&self) -> u64 {
        self.log.len() as u64
    }
}

/// Tokens come fast; tools take their time.
fn delay(random: &mut Random, pace: Millis) -> Millis {
    match random.below(200) {
        0 if pace > 0 => random.between(20_000, 150_000),
        1..4 => random.between(1000, 8000),
        _ => random.between(0, pace),
    }
}

/// The events that the server lists, in the order of their completion, and those that it does not.
fn list(
    log: &[Entry],
    listings: Vec<Listing>,
    keeps_partial: bool,
    uncut: &Uncut,
) -> (Vec<(u64, Json)>, Vec<String>) {
    let index = uncut.reader.index();
    let mut listed: Vec<(u64, Json)> =
        listings.into_iter().map(|Listing { number, event }| (number, event)).collect();
    let mut unfinished = Vec::new();
    let lasts: BTreeMap<String, u64> = numbers(log).into_iter().collect();
    for message in index.messages() {
        let thread = &index.threads()[message.thread].id;
        let whole: Json = serde_json::from_str(&message.to_json(thread)).expect("JSON");
        if !message.finish_reason().is_empty() || keeps_partial {
            listed.push((lasts[&message.id], whole));
        } else {
            unfinished.push(message.id.clone());
        }
    }
    listed.sort_by_key(|(number, _)| *number);
    (listed, unfinished)
}

/// The ids of events, with their numbers.
fn numbers(log: &[Entry]) -> Vec<(String, u64)> {
    let id = |entry: &Entry| {
        let event: Json = serde_json::from_str(&entry.data).unwrap_or_default();
        event["id"].as_str().map(str::to_owned)
    };
    (1..).zip(log).filter_map(|(number, entry)| id(entry).map(|id| (id, number))).collect()
}

struct Writer {
    random: Random,
    log: Vec<String>,
    listings: Vec<Listing>,
    state: Json,
    /// Ids of messages and of other events.
    ids: u64,
    calls: u64,
    required: Vec<Json>,
    /// The events of the last message of each thread.
    lasts: BTreeMap<String, Vec<Json>>,
}

impl Writer {
    fn new(random: Random) -> Self {
        Self {
            random,
            log: Vec::new(),
            listings: Vec::new(),
            state: Json::Null,
            ids: 0,
            calls: 0,
            required: Vec::new(),
            lasts: BTreeMap::new(),
        }
    }

    fn write(&mut self) {
        let input = json!([{"type": "user.message", "content": "go on"}]);
        self.stream(&json!({
            "type": "turn.created", "id": "created", "turn_id": TURN_ID, "previous_turn_id": null, "input": input,
            "state": {"status": "running"}, "created_by": {"subject_id": "ada", "subject_type": "user", "subject_slug": "ada"},
            "created_at": "2026-07-10T12:00:00.000Z", "thread_id": null,
        }));
        let endings = [
            Ending::Done,
            Ending::Done,
            Ending::Done,
            Ending::Paused,
            Ending::SignIn,
            Ending::Cancelled,
            Ending::Error,
        ];
        let ending = self.random.pick(&endings);
        if self.random.percent(20) {
            self.publish(json!({"type": "sandbox.created", "thread_id": null, "sandbox_id": "box"}));
        }
        self.connect("main");
        if ending != Ending::SignIn {
            for _ in 0..self.random.below(3) {
                self.round();
            }
        }
        self.end(ending);
    }

    fn id(&mut self, kind: &str) -> String {
        self.ids += 1;
        format!("{kind}-{:03}", self.ids)
    }

    /// An event that is streamed only.
    fn stream(&mut self, event: &Json) {
        self.log.push(event.to_string());
        match self.random.below(60) {
            // Events that this version does not know, or cannot read.
            0 => {
                let id = self.id("new");
                self.log
                    .push(json!({"type": "turn.mood", "id": id, "mood": text(&mut self.random)}).to_string());
            }
            1 => self.log.push("{\"type\":\"model.message.delta\",\"id\":".to_owned()),
            _ => {}
        }
    }

    /// An event that is streamed and listed.
    fn publish(&mut self, mut event: Json) -> Json {
        event["id"] = self.id("event").into();
        event["created_at"] = "2026-07-10T12:00:01.000Z".into();
        self.log.push(event.to_string());
        self.listings.push(Listing { number: self.log.len() as u64, event: event.clone() });
        if self.random.percent(5) {
            let newer =
                json!({"type": "tool.progress", "id": self.id("newer"), "thread_id": "main", "done": 0.5});
            self.log.push(newer.to_string());
            self.listings.push(Listing { number: self.log.len() as u64, event: newer });
        }
        event
    }

    fn connect(&mut self, thread: &str) {
        if self.random.percent(40) {
            let server = json!({"id": format!("{thread}-server"), "name": "tools", "session_id": "x"});
            self.publish(json!({"type": "mcp.initialize", "thread_id": thread, "mcp_servers": [server]}));
        }
    }

    /// A message in a thread, as events, with this many calls.
    fn message(&mut self, thread: &str, calls: u64) -> Draft {
        let id = self.id("message");
        // Some models restart the numbers of their calls in every message.
        let first_call = if self.random.percent(20) { 0 } else { self.calls };
        self.calls = self.calls.max(first_call + calls);
        let draft = Draft::draw(&mut self.random, thread, &id, first_call, calls);
        self.lasts.insert(thread.to_owned(), draft.events.clone());
        draft
    }

    /// Streams messages of several threads mixed with each other.
    fn mix(&mut self, mut drafts: Vec<Vec<Json>>) {
        while !drafts.is_empty() {
            let at = self.random.index(drafts.len());
            if drafts[at].is_empty() {
                drafts.swap_remove(at);
                continue;
            }
            let event = drafts[at].remove(0);
            self.stream(&event);
        }
    }

    /// A message that makes calls, and their results.
    fn round(&mut self) {
        let calls = self.random.between(1, 3);
        let Draft { events, calls, .. } = self.message("main", calls);
        self.mix(vec![events]);
        if self.random.percent(30) {
            self.sub_agents(&calls);
        } else {
            for call in calls {
                self.respond("main", &call);
            }
        }
    }

    fn respond(&mut self, thread: &str, call: &str) {
        let content = text(&mut self.random);
        self.publish(
            json!({"type": "tool.response", "thread_id": thread, "tool_call_id": call, "content": content}),
        );
    }

    /// Each call starts a sub-agent; they run side by side.
    fn sub_agents(&mut self, calls: &[String]) {
        let mut agents = Vec::new();
        for call in calls {
            let thread = self.id("thread");
            let parent = json!({"thread_id": "main", "tool_call_id": call});
            self.publish(
                json!({"type": "thread.created", "thread_id": thread, "title": "a helper", "parent": parent,
                                "agent_info": {"type": "dynamic", "name": "helper", "input": "help"}}),
            );
            agents.push((thread, parent, call.clone()));
        }
        let drafts = agents.iter().map(|(thread, ..)| self.message(thread, 0).events).collect();
        self.mix(drafts);
        for (thread, parent, call) in agents {
            self.respond("main", &call);
            let state = match self.random.below(4) {
                0 => json!({"status": "error", "error": "it was refused"}),
                _ => json!({"status": "done", "output": self.output(&thread)}),
            };
            self.publish(
                json!({"type": "thread.done", "thread_id": thread, "title": "a helper", "parent": parent,
                                "state": state}),
            );
        }
    }

    /// The last message of a thread, whole.
    fn output(&self, thread: &str) -> Json {
        let events = self.lasts.get(thread).into_iter().flatten();
        let log: Vec<Entry> = events.map(|event| Entry { data: event.to_string(), delay: 0 }).collect();
        let uncut = Uncut::of(&log, log.len());
        let message = uncut.reader.index().messages().first().expect("it was written");
        serde_json::from_str(&message.to_json(thread)).expect("JSON")
    }

    fn end(&mut self, ending: Ending) {
        match ending {
            Ending::Done => {
                let Draft { events, .. } = self.message("main", 0);
                self.mix(vec![events]);
            }
            Ending::Paused => self.pause(),
            Ending::SignIn => {
                let servers =
                    json!([{"id": "s", "name": "calendar", "auth_url": "https://sign.in.example/s"}]);
                let action = json!({"type": "mcp.auth_required", "thread_id": null, "mcp_servers": servers});
                let action = self.publish(action);
                self.required.push(action);
            }
            Ending::Cancelled | Ending::Error => {
                let calls = self.random.below(2);
                let Draft { mut events, .. } = self.message("main", calls);
                events.truncate(self.random.index(events.len()));
                self.mix(vec![events]);
            }
        }
        let at = "2026-07-10T12:01:00.000Z";
        self.state = match ending {
            Ending::Cancelled => {
                json!({"status": "cancelled", "reason": "client-cancelled", "completed_at": at})
            }
            Ending::Error => json!({"status": "error", "message": "max_tokens breached", "completed_at": at}),
            _ => {
                let output = if ending == Ending::Done { self.output("main") } else { Json::Null };
                json!({"status": "done", "output": output, "required_actions": self.required, "completed_at": at})
            }
        };
        let done = json!({"type": "turn.done", "id": "done", "state": self.state, "created_at": at, "thread_id": null});
        self.log.push(done.to_string());
    }

    /// Calls wait for the user, of both kinds.
    fn pause(&mut self) {
        let calls = self.random.between(1, 3);
        let Draft { id, events, calls } = self.message("main", calls);
        self.mix(vec![events]);
        let (questions, approvals) = calls.split_at(self.random.index(calls.len() + 1));
        for (kind, calls) in [("tool.response_required", questions), ("tool.approval_required", approvals)] {
            if calls.is_empty() {
                continue;
            }
            let calls: Vec<Json> =
                calls.iter().map(|call| json!({"id": call, "source_event_id": id})).collect();
            let action = self.publish(json!({"type": kind, "thread_id": "main", "tool_calls": calls}));
            self.required.push(action);
        }
    }
}
