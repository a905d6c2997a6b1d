//! Target `rpc`: the messages of a turn over a socket become the same events however their lines are cut into chunks;
//! events are numbered on, whatever comes and however often the connection breaks; a turn begins and ends once.

use std::path::Path;

use serde_json::Value as Json;
use turnwire::json::{Object, Value};
use turnwire::protocol::Protocol;
use turnwire::protocol::turn_rpc::{Dialect, TurnRpc};
use turnwire::rpc::LineDecoder;

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
    let whole = events(protocol, &[stream], breaks);
    for chunks in [plan.cut(stream), stream.chunks(1).collect()] {
        assert_eq!(events(protocol, &chunks, breaks), whole, "in {} chunks", chunks.len());
    }
    for (kind, most) in [("turn.created", 1), ("turn.done", 1)] {
        let count = whole.iter().filter(|event| event["type"] == kind).count();
        assert!(count <= most, "{count} times {kind}");
    }
}

/// The events of a turn.
fn events(protocol: TurnRpc, chunks: &[&[u8]], breaks: usize) -> Vec<Json> {
    let (mut decoder, mut lines, mut sink) =
        (protocol.decoder(), LineDecoder::with_limit(1 << 16), Sink::default());
    with(r#"{"session_id":"t","turn_id":"u"}"#, &mut |params| decoder.begin(params));
    let mut heard = 0;
    for chunk in chunks {
        let fed = lines.feed(chunk, &mut |frame| {
            decoder.decode(&frame, &mut sink);
            let _ = decoder.follow_up_requests();
            heard += 1;
            if heard % breaks == 0 {
                let params =
                    format!(r#"{{"session_id":"t","turn_id":"u","after_sequence_number":{}}}"#, sink.0.len());
                with(&params, &mut |params| decoder.resume(params));
            }
        });
        if fed.is_err() {
            break;
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
