//! The output of calls, while they run and at their end (section 5).

use crate::error::sentence;
use crate::json::{Object, Value};
use crate::protocol::EventSink;
use crate::protocol::fields::{event, put};

use super::super::fields::{boolean, inner, objects};
use super::Turn;
use super::delta::{Piece, Source};
use super::fingerprint::Fingerprint;

/// The most streams of a call whose output is compared with the completed item.
const MOST_STREAMS: usize = 8;

impl Turn {
    /// Takes a piece of a call's output.
    pub(super) fn append_output(&mut self, at: usize, piece: &Piece<'_>, sink: &mut dyn EventSink) {
        let Some(item) = self.items.get(at) else { return };
        let (id, thread, is_announced) = (item.id.clone(), item.thread, item.is_announced);
        if !is_announced {
            // The beginning of the call was missed. Its end will have its name and arguments.
            let made = self.make_call(at, "", "", const { &Object::new() }, sink);
            if let Err(problem) = made {
                return self.unknown(piece.method, piece.to_value(), Some(problem), sink);
            }
        }
        let stream = match piece.source {
            Source::Output(stream) => stream,
            _ => "output",
        };
        let item = self.items.get_mut(at).filter(|_| !piece.text.is_empty());
        if let Some(fingerprint) = item.and_then(|item| fingerprint_of(&mut item.outputs, stream)) {
            fingerprint.push(piece.text);
        }
        let mut output = event("tool.output", self.next_id(), self.thread_name(thread));
        put(&mut output, "tool_call_id", &id);
        put(&mut output, "stream", stream);
        put(&mut output, "delta", piece.text);
        // A plain chunk of output has no further data.
        let payload = piece.payload.as_ref();
        let kind = payload.and_then(|payload| payload.get("kind")).and_then(Value::as_str);
        if let Some(payload) = payload.filter(|_| kind != Some("output_chunk")) {
            output.set("payload", payload.clone());
        }
        self.emit(&output, sink);
    }

    /// Corrects the output of a completed call: pieces may have been missed or damaged, and the item has all of it.
    /// Without any pieces, the result alone has the output.
    pub(super) fn correct_output(&mut self, at: usize, source: &Object<'_>, sink: &mut dyn EventSink) {
        let streams = streams_of(source);
        let Some(item) = self.items.get(at) else { return };
        let is_announced = |name: &str| item.outputs.iter().any(|(known, _)| known == name);
        let is_missing = |name: &str| is_announced(name) && streams.iter().all(|(known, _)| *known != name);
        if is_missing("stdout") || is_missing("stderr") {
            // The item does not separate its streams.
            return;
        }
        for (stream, whole) in streams {
            let Some(item) = self.items.get_mut(at).filter(|item| !item.outputs.is_empty()) else { return };
            let Some(fingerprint) = fingerprint_of(&mut item.outputs, stream) else { return };
            if *fingerprint == Fingerprint::of(whole) {
                continue;
            }
            *fingerprint = Fingerprint::of(whole);
            let (id, thread) = (item.id.clone(), item.thread);
            let mut output = event("tool.output", self.next_id(), self.thread_name(thread));
            put(&mut output, "tool_call_id", &id);
            put(&mut output, "stream", stream);
            put(&mut output, "delta", whole);
            output.set("replace", true.into());
            self.emit(&output, sink);
        }
    }
}

/// The fingerprint of a stream's output, if there is room for it.
fn fingerprint_of<'o>(
    outputs: &'o mut Vec<(String, Fingerprint)>,
    stream: &str,
) -> Option<&'o mut Fingerprint> {
    let at = outputs.iter().position(|(known, _)| known == stream).unwrap_or(outputs.len());
    if at == outputs.len() && at < MOST_STREAMS {
        outputs.push((stream.to_owned(), Fingerprint::default()));
    }
    outputs.get_mut(at).map(|(_, fingerprint)| fingerprint)
}

/// The whole output of a call by stream, if its item has all of it.
fn streams_of<'o>(item: &'o Object<'_>) -> Vec<(&'static str, &'o str)> {
    let display = item
        .object("display")
        .filter(|display| display.text("kind") == "shell" && boolean(display, "truncated") != Some(true));
    let display = display.unwrap_or(const { &Object::new() });
    let mut streams = Vec::new();
    for (stream, of, name) in
        [("stdout", display, "stdout"), ("stderr", display, "stderr"), ("output", item, "aggregatedOutput")]
    {
        if let Some(text) = of.get(name).and_then(Value::as_str) {
            streams.push((stream, text));
        }
    }
    streams
}

/// The outcome of a call.
pub(super) fn outcome_of(item: &Object<'_>) -> &'static str {
    let is_failed = matches!(item.text("status"), "failed" | "declined" | "cancelled" | "interrupted")
        || boolean(item, "success") == Some(false)
        || item.object("error").is_some();
    if is_failed { "failed" } else { "succeeded" }
}

/// The text that is shown as the result.
pub(super) fn content_of(item: &Object<'_>) -> String {
    let display = inner(item, "display");
    let mut content = String::new();
    match display.text("kind") {
        "shell" => {
            add_line(&mut content, display.text("aggregated_output"));
            if content.is_empty() {
                add_line(&mut content, display.text("stdout"));
                add_line(&mut content, display.text("stderr"));
            }
        }
        "summary" => {
            add_line(&mut content, display.text("title"));
            for line in display.array("lines") {
                add_line(&mut content, line.as_str().unwrap_or_default());
            }
        }
        _ => {}
    }
    if content.is_empty() {
        for name in ["aggregatedOutput", "stdout", "stderr"] {
            add_line(&mut content, item.text(name));
        }
    }
    if content.is_empty() {
        // The texts in the result of the client's own tool, or of an MCP tool.
        for part in objects(item, "contentItems").chain(objects(inner(item, "result"), "content")) {
            add_line(&mut content, part.text("text"));
        }
    }
    if content.is_empty() && item.text("status") == "completed" {
        // The changed files, each with the kind of its change. The changes themselves are in the call's arguments.
        for change in objects(item, "changes").filter(|change| !change.text("path").is_empty()) {
            let line = sentence(&[inner(change, "kind").text("type"), " ", change.text("path")]);
            add_line(&mut content, line.trim_ascii_start());
        }
    }
    if content.is_empty() {
        content.push_str(inner(item, "error").text("message"));
    }
    if content.is_empty() {
        content.push_str(item.text("status"));
    }
    content
}

/// Adds a text as a line of its own, unless it is empty.
#[inline(never)]
fn add_line(lines: &mut String, text: &str) {
    if text.is_empty() {
        return;
    }
    if !lines.is_empty() && !lines.ends_with('\n') {
        lines.push('\n');
    }
    lines.push_str(text);
}
