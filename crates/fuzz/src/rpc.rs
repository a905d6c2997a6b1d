//! Target `rpc`: the events of a turn over a socket continue their numbers, whatever comes and however often the
//! connection breaks; a turn begins and ends once.

use std::path::Path;

use serde_json::Value as Json;
use turnwire::json::{Object, Value};
use turnwire::protocol::Protocol;
use turnwire::protocol::turn_rpc::{Dialect, TurnRpc};
use turnwire::sse::Frame;

use crate::input::Input;
use crate::seeds::{Capture, files};
use crate::sink::Sink;

/// Longer inputs make slow runs and find nothing more.
const LONGEST: usize = 4096;

/// Runs the target.
pub fn run(input: &[u8]) {
    let (mut plan, stream) = Input::of(input);
    let protocol = TurnRpc::new([Dialect::Gateway, Dialect::Codex][plan.below(2)]);
    // After so many messages the connection breaks, over and over.
    let breaks = 1 + plan.below(40);
    let events = events(protocol, stream, breaks);
    for (kind, most) in [("turn.created", 1), ("turn.done", 1)] {
        let count = events.iter().filter(|event| event["type"] == kind).count();
        assert!(count <= most, "{count} times {kind}");
    }
}

/// The events of a turn whose messages are these lines.
fn events(protocol: TurnRpc, lines: &[u8], breaks: usize) -> Vec<Json> {
    let (mut decoder, mut sink) = (protocol.decoder(), Sink::default());
    with(r#"{"session_id":"t","turn_id":"u"}"#, &mut |params| decoder.begin(params));
    for (at, line) in lines.split(|byte| *byte == b'\n').enumerate() {
        let data = str::from_utf8(line).unwrap_or("\u{fffd}");
        decoder.decode(&Frame { event: "", data, id: None, has_own_id: false }, &mut sink);
        let _ = decoder.follow_up_requests();
        if (at + 1) % breaks == 0 {
            let params =
                format!(r#"{{"session_id":"t","turn_id":"u","after_sequence_number":{}}}"#, sink.0.len());
            with(&params, &mut |params| decoder.resume(params));
        }
    }
    sink.0
}

fn with(params: &str, then: &mut dyn FnMut(&Object<'_>)) {
    let params = Value::parse(params).unwrap_or_default();
    then(params.as_object().unwrap_or(&Object::new()));
}

/// The messages of the recorded dialogs, as lines: of one thread and one turn, whatever they were called.
pub fn seeds(_: &[Capture]) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/turn-rpc");
    let mut all = Vec::new();
    for path in files(&folder).unwrap_or_default() {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let messages: Vec<Json> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let mut names: Vec<(String, &str)> = Vec::new();
        for message in &messages {
            let params = &message["frame"]["params"];
            for (name, short) in [("thread_id", "t"), ("threadId", "t"), ("turn_id", "u"), ("turnId", "u")] {
                if let Some(id) = params[name].as_str() {
                    names.push((format!("\"{id}\""), short));
                }
            }
        }
        let mut lines = String::new();
        for message in messages.iter().filter(|message| message["dir"] == "S->C") {
            let mut line = message["frame"].to_string();
            for (name, short) in &names {
                line = line.replace(name, &format!("\"{short}\""));
            }
            if message["frame"].get("result").is_some() {
                line = format!("{{\"response_to\":\"turn/start\",{}", &line[1..]);
            }
            if lines.len() + line.len() > LONGEST {
                break;
            }
            lines += &line;
            lines.push('\n');
        }
        all.push(lines);
    }
    (0..).zip(all).map(|(plan, lines)| Input::from_parts(plan, lines.as_bytes())).collect()
}
