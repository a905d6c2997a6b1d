//! Target `rpc`: the events of a turn over a socket keep consecutive numbers, whatever arrives and however often the
//! connection breaks. A turn begins and ends once. Messages mean the same if only their pieces of text are passed on.

use std::path::Path;

use serde_json::Value as Json;
use turnwire::json::{Object, Value};
use turnwire::protocol::Protocol;
use turnwire::protocol::turn_rpc::{Dialect, TurnRpc};
use turnwire::sse::Frame;

use crate::input::{Input, Plan};
use crate::like::Templates;
use crate::seeds::{Capture, files};
use crate::sink::Sink;

/// Longer inputs make slow runs and find nothing more.
const LONGEST: usize = 4096;

/// Runs the target.
pub fn run(input: &[u8]) {
    let (plan, stream) = Input::of(input);
    let (dialect, breaks) = planned(plan);
    let protocol = TurnRpc::new(dialect);
    let whole = events(protocol, stream, breaks, false);
    let like = events(protocol, stream, breaks, true);
    assert_eq!(like, whole, "by their pieces of text, and whole");
    for (kind, most) in [("turn.created", 1), ("turn.done", 1)] {
        let count = whole.iter().filter(|event| event["type"] == kind).count();
        assert!(count <= most, "{count} times {kind}");
    }
}

/// The dialect, and after how many messages the connection breaks each time.
fn planned(mut plan: Plan) -> (Dialect, usize) {
    ([Dialect::Gateway, Dialect::Codex][plan.below(2)], 1 + plan.below(40))
}

/// The events of a turn whose messages are these lines. With `is_like`, messages that are like an earlier one are
/// passed on as their pieces of text.
fn events(protocol: TurnRpc, lines: &[u8], breaks: usize, is_like: bool) -> Vec<Json> {
    let (mut decoder, mut sink) = (protocol.decoder(), Sink::default());
    let mut templates = Templates::default();
    with(r#"{"session_id":"t","turn_id":"u"}"#, &mut |params| decoder.begin(params));
    for (at, line) in lines.split(|byte| *byte == b'\n').enumerate() {
        let data = str::from_utf8(line).unwrap_or("\u{fffd}");
        if !is_like || !templates.take(&mut *decoder, data, &mut sink) {
            decoder.decode(&Frame { event: "", data, id: None, has_own_id: false }, &mut sink);
            if is_like {
                templates.learn(&*decoder, data);
            }
        }
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

/// The messages of the recorded dialogs, as lines, with the ids of one thread and one turn.
pub fn seeds(_: &[Capture]) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/turn-rpc");
    let mut all = Vec::new();
    for path in files(&folder).unwrap_or_default() {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        // Members stay in their order.
        let messages: Vec<Value<'_>> = text.lines().filter_map(|line| Value::parse(line).ok()).collect();
        let frames = messages.iter().filter_map(|message| Some((message.get("dir")?, message.get("frame")?)));
        let frames: Vec<_> =
            frames.filter(|(dir, _)| dir.as_str() == Some("S->C")).map(|(_, frame)| frame).collect();
        let mut names: Vec<(String, &str)> = Vec::new();
        for params in frames.iter().filter_map(|frame| frame.get("params")) {
            for (name, short) in [("thread_id", "t"), ("threadId", "t"), ("turn_id", "u"), ("turnId", "u")] {
                if let Some(id) = params.get(name).and_then(Value::as_str) {
                    names.push((format!("\"{id}\""), short));
                }
            }
        }
        let mut lines = String::new();
        for frame in frames {
            let mut line = frame.to_json();
            for (name, short) in &names {
                line = line.replace(name, &format!("\"{short}\""));
            }
            if frame.get("result").is_some() {
                line = format!("{{\"response_to\":\"turn/start\",{}", &line[1..]);
            }
            // The description of a thread is long. There is room for some of what follows.
            if lines.len() + line.len() < LONGEST {
                lines += &line;
                lines.push('\n');
            }
        }
        let is_codex = path.to_string_lossy().contains("codex");
        let dialect = if is_codex { Dialect::Codex } else { Dialect::Gateway };
        let fits = |plan: &u64| matches!(planned(Plan(*plan)), (of, 30..) if of == dialect);
        all.extend(
            (0..=u64::from(u16::MAX)).find(fits).map(|plan| Input::from_parts(plan, lines.as_bytes())),
        );
    }
    all
}
