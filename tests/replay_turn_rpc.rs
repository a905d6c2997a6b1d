//! Recorded dialogs of both dialects, replayed with connections that break at every message and continue with what the
//! server keeps: always the same conversation, under numbers without a gap.
//!
//! A dialog is a list of messages, one a line. Those of Codex app-server were recorded; those of the gateway were put
//! together from the protocol note (its section 0). Section numbers are the note's.
#![cfg(not(target_arch = "wasm32"))]

#[path = "support/typed.rs"]
mod typed;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value as Json, json};

use turnwire::event::{EventRef, TextDelta};
use turnwire::index::EventIndex;
use turnwire::json::{Object, Value};
use turnwire::protocol::turn_rpc::{Dialect, TurnRpc};
use turnwire::protocol::{EventDecoder, EventSink, Protocol};
use turnwire::sse::Frame;

/// Dialogs without a turn.
const OTHERS: [&str; 2] = ["codex-handshake.jsonl", "derived-errors.jsonl"];

/// A message of a dialog.
struct Message {
    is_sent: bool,
    text: String,
    json: Json,
}

/// A turn of a dialog: its start, and all messages of its thread about it.
struct Dialog {
    name: String,
    dialect: Dialect,
    params: Json,
    turn_id: String,
    heard: Vec<Message>,
}

fn dialogs() -> Vec<Dialog> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/turn-rpc");
    let entries = std::fs::read_dir(folder).expect("the fixtures are there");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a file").path()).collect();
    paths.sort();
    let is_dialog =
        |path: &std::path::PathBuf| path.extension().is_some_and(|extension| extension == "jsonl");
    let mut dialogs = Vec::new();
    for path in paths.into_iter().filter(is_dialog) {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if !OTHERS.contains(&&*name) {
            dialogs.push(Dialog::of(name, &std::fs::read_to_string(&path).expect("UTF-8")));
        }
    }
    assert!(dialogs.len() >= 21, "{}", dialogs.len());
    dialogs
}

impl Dialog {
    fn of(name: String, text: &str) -> Self {
        let dialect = if name.starts_with("codex") { Dialect::Codex } else { Dialect::Gateway };
        let messages: Vec<Message> = text.lines().filter_map(message).collect();
        let start =
            messages.iter().position(|message| message.is_sent && message.json["method"] == "turn/start");
        let start = start.unwrap_or_else(|| panic!("{name} starts no turn"));
        let own = &messages[start].json["params"];
        let thread = either(own, "thread_id", "threadId").to_owned();
        let input =
            own["input"].as_array().expect("an input").iter().map(|part| match part["type"].as_str() {
                Some("image") => json!({"type": "file", "name": "image.png", "data": part["url"]}),
                Some("text") => json!({"type": "text", "text": part["text"]}),
                _ => part.clone(),
            });
        let input = json!([{"type": "user.message", "content": input.collect::<Vec<_>>()}]);
        let mut params = json!({"session_id": thread, "input": input});
        if let Some(turn) = own["turn_id"].as_str() {
            params["turn_id"] = json!(turn);
        }
        let mut asked = BTreeMap::new();
        let mut heard = Vec::new();
        for message in messages {
            if message.is_sent {
                asked.insert(message.json["id"].to_string(), message.json["method"].clone());
                continue;
            }
            let is_response = message.json.get("method").is_none();
            let method = asked.get(&message.json["id"].to_string()).and_then(Json::as_str);
            // The stream gets its start and its timeline; other requests belong to others.
            let is_own = if is_response {
                matches!(method, Some("turn/start" | "turn/timeline"))
                    && !heard.iter().any(|known: &Message| {
                        known.json["response_to"] == "turn/start" && method == Some("turn/start")
                    })
            } else {
                message.text.contains(&format!("\"{thread}\""))
            };
            if is_own {
                heard.push(if is_response {
                    responded(&message, method.expect("a method"))
                } else {
                    message
                });
            }
        }
        let turn = heard.iter().find_map(|message| message.json["result"]["turn"]["id"].as_str());
        let turn_id = turn.unwrap_or_else(|| panic!("{name} has no turn")).to_owned();
        Self { name, dialect, params, turn_id, heard }
    }

    fn decoder(&self) -> Box<dyn EventDecoder> {
        let mut decoder = TurnRpc::new(self.dialect).decoder();
        with(&self.params, |params| decoder.begin(params));
        decoder
    }

    /// What the server keeps of the turn after this many messages, as the responses to a client that reconnects.
    fn snapshot(&self, heard: usize) -> Vec<String> {
        let heard = &self.heard[..heard];
        let ended = heard.iter().find(|message| {
            matches!(message.json["method"].as_str(), Some("turn/completed" | "turn/failed"))
        });
        match self.dialect {
            Dialect::Gateway => {
                let mut events: Vec<Json> = heard.iter().filter_map(kept).collect();
                for (at, event) in events.iter_mut().enumerate() {
                    event["sequence"] = json!(at + 1);
                }
                let running = json!({"id": self.turn_id, "status": "InProgress"});
                let turn = ended.map_or(running, |message| message.json["params"]["turn"].clone());
                // Once anything in it has changed, it is as at the dialog's end.
                let has_changed =
                    heard.iter().any(|message| message.json["method"] == "turn/timeline/changed");
                let mut known = self.heard.iter().filter(|_| has_changed);
                let timeline = known.rfind(|message| message.json["response_to"] == "turn/timeline");
                let timeline =
                    timeline.map_or(json!({"items": []}), |message| message.json["result"].clone());
                vec![
                    json!({"response_to": "thread/start", "result": {"thread": {}}}),
                    json!({"response_to": "turn/get", "result": {"turn": turn}}),
                    json!({"response_to": "turn/items", "result": {"events": events}}),
                    json!({"response_to": "turn/timeline", "result": timeline}),
                ]
                .into_iter()
                .map(first_is_ours)
                .collect()
            }
            Dialect::Codex => {
                let completed = heard.iter().filter(|message| message.json["method"] == "item/completed");
                let items: Vec<Json> =
                    completed.map(|message| message.json["params"]["item"].clone()).collect();
                let mut turn = json!({"id": self.turn_id, "status": "inProgress", "items": items});
                if let Some(ended) = ended {
                    let end = &ended.json["params"]["turn"];
                    for name in ["status", "error", "completedAt"] {
                        turn[name] = end[name].clone();
                    }
                }
                let mut status = json!({"type": "idle"});
                for message in
                    heard.iter().filter(|message| message.json["method"] == "thread/status/changed")
                {
                    status = message.json["params"]["status"].clone();
                }
                let thread = json!({"id": self.params["session_id"], "status": status});
                let turns = json!({"data": [turn], "nextCursor": null});
                let mut messages = vec![
                    first_is_ours(json!({"response_to": "thread/resume", "result": {"thread": thread}})),
                    first_is_ours(json!({"response_to": "thread/turns/list", "result": turns})),
                ];
                // Pending requests are repeated.
                let mut waiting: Vec<&Message> = Vec::new();
                for message in heard {
                    match message.json["method"].as_str() {
                        Some("serverRequest/resolved") => {
                            waiting.retain(|asked| asked.json["id"] != message.json["params"]["requestId"]);
                        }
                        Some(_) if message.json.get("id").is_some() => waiting.push(message),
                        _ => {}
                    }
                }
                messages.extend(waiting.iter().map(|message| message.text.clone()));
                messages
            }
        }
    }
}

/// An event in the form in which the server keeps it.
fn kept(message: &Message) -> Option<Json> {
    const KEPT: [&str; 4] =
        ["item/started", "item/completed", "item/updated", "turn/tool_loop/budget_exceeded"];
    let method = message.json["method"].as_str()?;
    let is_news = ["recovery", "retry", "timeout"].iter().any(|word| method.contains(word));
    if !KEPT.contains(&method) && !is_news {
        return None;
    }
    let camel = |name: &str, breaks: &[char]| {
        let mut words = name.split(breaks);
        let mut camel = words.next().unwrap_or_default().to_owned();
        for word in words {
            let (first, rest) = word.split_at(1);
            camel += &first.to_uppercase();
            camel += rest;
        }
        camel
    };
    let mut payload = serde_json::Map::new();
    payload.insert("type".into(), json!(camel(method, &['/', '_'])));
    for (name, value) in message.json["params"].as_object()? {
        payload.insert(camel(name, &['_']), value.clone());
    }
    Some(json!({"created_at": 1_777_900_000, "payload": payload}))
}

fn message(line: &str) -> Option<Message> {
    let line = Value::parse(line).expect("JSON");
    let direction = line.get("dir").and_then(Value::as_str)?;
    let frame = line.get("frame")?;
    let is_sent = direction == "C->S";
    if direction == "NOTE" || frame.get("ws_close").is_some() || frame.get("raw").is_some() {
        return None;
    }
    // In the order in which the server wrote it.
    let text = frame.to_json();
    let json = serde_json::from_str(&text).expect("JSON");
    Some(Message { is_sent, text, json })
}

fn responded(message: &Message, method: &str) -> Message {
    let text = format!("{{\"response_to\":\"{method}\",{}", &message.text[1..]);
    let json = serde_json::from_str(&text).expect("JSON");
    Message { is_sent: false, text, json }
}

/// A response with our member at its beginning: maps have no order here.
fn first_is_ours(mut response: Json) -> String {
    let method = response["response_to"].take();
    response.as_object_mut().expect("an object").remove("response_to");
    format!("{{\"response_to\":{method},{}", &response.to_string()[1..])
}

fn either<'j>(json: &'j Json, snake: &str, camel: &str) -> &'j str {
    json[snake].as_str().or_else(|| json[camel].as_str()).unwrap_or_default()
}

fn with<T>(params: &Json, then: impl FnOnce(&Object<'_>) -> T) -> T {
    let text = params.to_string();
    then(Value::parse(&text).expect("JSON").as_object().expect("an object"))
}

/// The events of a turn, and their result.
#[derive(Debug, Default)]
struct Seen {
    events: Vec<Json>,
    index: EventIndex,
}

impl Seen {
    fn take(&mut self, sequence_number: u64, event: Json) {
        self.events.push(event);
        assert_eq!(sequence_number, self.events.len() as u64);
    }

    fn of<'s>(&'s self, kind: &'s str) -> impl Iterator<Item = &'s Json> {
        self.events.iter().filter(move |event| event["type"] == kind)
    }

    /// The content of a turn, without what a broken connection may lose for good: live output, notices
    /// that are not kept, tokens, and the rest of messages that were never completed.
    fn conversation(&self) -> Json {
        let threads = self.index.threads();
        let messages =
            self.index.messages().iter().filter(|message| message.finish_reason() != "interrupted");
        // The order between a task's messages and others is undefined.
        let mut messages: Vec<_> = messages.collect();
        messages.sort_by_key(|message| message.thread);
        let messages = messages.iter();
        let messages = messages.map(|message| {
            let calls = message.calls().iter().flatten();
            let thread = &threads[message.thread].id;
            let responses = calls.map(|call| json!({"call": call.id, "response": parsed(call.response())}));
            let mut own = parsed(Some(&message.to_json(thread)));
            own["created_at"] = Json::Null;
            json!({"message": own, "responses": responses.collect::<Vec<_>>()})
        });
        let notices = self.of("notice").filter(|notice| {
            let code = notice["code"].as_str().unwrap_or_default();
            ["item/", "turn/tool_loop", "capability."].iter().any(|kept| code.starts_with(kept))
        });
        let notices = notices
            .map(|notice| json!([notice["level"], notice["code"], notice["message"], notice["item_id"]]));
        let mut state = self.of("turn.done").next().map(|done| done["state"].clone()).unwrap_or_default();
        if let Some(state) = state.as_object_mut() {
            state.remove("metrics");
        }
        let threads = threads.iter().map(|thread| json!([thread.id, format!("{:?}", thread.status)]));
        json!({
            "messages": messages.collect::<Vec<_>>(),
            "notices": notices.collect::<Vec<_>>(),
            "threads": threads.collect::<Vec<_>>(),
            "pending": self.index.pending().len(),
            "state": state,
        })
    }
}

fn parsed(json: Option<&str>) -> Json {
    json.map_or(Json::Null, |json| serde_json::from_str(json).expect("JSON"))
}

impl EventSink for Seen {
    fn delta(&mut self, sequence_number: u64, delta: TextDelta<'_>) {
        self.index.append(&delta);
        self.take(sequence_number, typed::of_delta(&delta));
    }

    fn event(&mut self, sequence_number: u64, event: EventRef<'_>) {
        let json = typed::of_event(event, true);
        self.index.apply(event);
        self.take(sequence_number, json);
    }
}

/// The beginning of the response with the events of tasks.
const TIMELINE: &str = "{\"response_to\":\"turn/timeline\"";

/// Gathers the decoder's follow-up requests, and sends them just before the dialog has their responses.
fn ask(decoder: &mut dyn EventDecoder, next: &str) {
    if next.starts_with(TIMELINE) {
        let _ = decoder.follow_up_requests();
    }
}

fn hear<'m>(decoder: &mut dyn EventDecoder, messages: impl IntoIterator<Item = &'m str>, seen: &mut Seen) {
    for data in messages {
        ask(decoder, data);
        decoder.decode(&Frame { event: "", data, id: None, has_own_id: false }, seen);
    }
}

/// The dialog without any fault.
fn whole(dialog: &Dialog) -> Seen {
    let (mut decoder, mut seen) = (dialog.decoder(), Seen::default());
    hear(&mut *decoder, dialog.heard.iter().map(|message| &*message.text), &mut seen);
    seen
}

#[test]
fn dialogs_have_their_beginning_and_end() {
    for dialog in dialogs() {
        let seen = whole(&dialog);
        assert_eq!(seen.of("turn.created").count(), 1, "{}", dialog.name);
        assert_eq!(seen.events[0]["turn_id"], dialog.turn_id, "{}", dialog.name);
        assert_eq!(seen.of("turn.done").count(), 1, "{}", dialog.name);
        assert_eq!(seen.events.last().expect("an event")["type"], "turn.done", "{}", dialog.name);
        let unknown: Vec<_> = seen.of("unknown").map(|event| event["wire_type"].clone()).collect();
        let known = ["thread/goal/cleared"];
        assert!(
            unknown.iter().all(|name| known.iter().any(|known| name == known)),
            "{}: {unknown:?}",
            dialog.name
        );
        for message in seen.index.messages() {
            assert!(!message.finish_reason().is_empty(), "{}: {}", dialog.name, message.id);
        }
    }
}

/// Section 8: the connection breaks before each message, some are lost, and the client reconnects.
#[test]
fn broken_connections_change_nothing() {
    for dialog in dialogs() {
        let expected = whole(&dialog).conversation();
        let count = dialog.heard.len();
        for at in 0..=count {
            // Long dialogs have many similar pieces.
            let losses = if count > 60 { &[1][..] } else { &[0, 1, 3] };
            for lost in losses {
                let back = (at + lost).min(count);
                for early in [0, 2] {
                    for is_new in [false, true] {
                        let seen = broken(&dialog, at, back, early, is_new);
                        let context = format!(
                            "{}: cut at {at}, back at {back}, {early} early, new: {is_new}",
                            dialog.name
                        );
                        assert_eq!(seen.of("turn.created").count(), 1, "{context}");
                        let told = seen.conversation();
                        for (part, expected) in expected.as_object().expect("an object") {
                            assert_eq!(told[part], *expected, "{context}");
                        }
                    }
                }
            }
        }
    }
}

/// Reads up to a message, and reconnects at another one. Some of the messages in between arrive before the responses.
fn broken(dialog: &Dialog, at: usize, back: usize, early: usize, is_new: bool) -> Seen {
    let (mut decoder, mut seen) = (dialog.decoder(), Seen::default());
    let texts = |from: usize, to: usize| dialog.heard[from..to].iter().map(|message| &*message.text);
    hear(&mut *decoder, texts(0, at), &mut seen);
    if seen.of("turn.done").next().is_some() {
        return seen;
    }
    if is_new {
        // Another page reads the turn.
        (decoder, seen) = (TurnRpc::new(dialog.dialect).decoder(), Seen::default());
    }
    let mut params = json!({"session_id": dialog.params["session_id"], "turn_id": dialog.turn_id});
    if !seen.events.is_empty() {
        params["after_sequence_number"] = json!(seen.events.len());
    }
    with(&params, |params| decoder.resume(params));
    let early = (back + early).min(dialog.heard.len());
    let snapshot = dialog.snapshot(early);
    // Requests are answered on their own connection: those of the broken one there, those of this one here.
    let is_answer = |data: &&str| data.starts_with(TIMELINE);
    let answer = texts(0, dialog.heard.len()).rfind(is_answer);
    let heard = texts(back, early).filter(|data| !is_answer(data));
    let heard = heard.chain(snapshot.iter().map(String::as_str));
    for data in heard.chain(texts(early, dialog.heard.len()).filter(|data| !is_answer(data))) {
        decoder.decode(&Frame { event: "", data, id: None, has_own_id: false }, &mut seen);
        if let Some(data) = answer.filter(|_| decoder.follow_up_requests().is_some()) {
            decoder.decode(&Frame { event: "", data, id: None, has_own_id: false }, &mut seen);
        }
    }
    seen
}
