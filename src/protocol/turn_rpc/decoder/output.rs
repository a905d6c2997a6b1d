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
        let streams: Vec<_> = streams_of(source).collect();
        let Some(item) = self.items.get(at) else { return };
        let is_announced = |name: &str| item.outputs.iter().any(|(known, _)| known == name);
        if ["stdout", "stderr"]
            .iter()
            .any(|name| is_announced(name) && streams.iter().all(|(known, _)| known != name))
        {
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
fn streams_of<'o>(item: &'o Object<'_>) -> impl Iterator<Item = (&'static str, &'o str)> {
    let display = item
        .object("display")
        .filter(|display| display.text("kind") == "shell" && boolean(display, "truncated") != Some(true));
    let display = display.unwrap_or(const { &Object::new() });
    let streams = [
        ("stdout", display.get("stdout")),
        ("stderr", display.get("stderr")),
        ("output", item.get("aggregatedOutput")),
    ];
    streams.into_iter().filter_map(|(stream, text)| Some((stream, text?.as_str()?)))
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
    let mut content = match display.text("kind") {
        "shell" => {
            let all = display.text("aggregated_output");
            if all.is_empty() {
                lines([display.text("stdout"), display.text("stderr")])
            } else {
                all.to_owned()
            }
        }
        "summary" => {
            let said = display.array("lines").iter().filter_map(Value::as_str);
            lines(std::iter::once(display.text("title")).chain(said))
        }
        _ => String::new(),
    };
    if content.is_empty() {
        content = lines(["aggregatedOutput", "stdout", "stderr"].map(|name| item.text(name)));
    }
    if content.is_empty() {
        content = lines(parts_of(item));
    }
    if content.is_empty() && item.text("status") == "completed" {
        content = lines(changes_of(item).iter().map(String::as_str));
    }
    if content.is_empty() {
        content = item.object("error").map(|error| error.text("message").to_owned()).unwrap_or_default();
    }
    if content.is_empty() { item.text("status").to_owned() } else { content }
}

/// The texts in the result of an MCP tool, or of the client's own tool.
fn parts_of<'o>(item: &'o Object<'_>) -> impl Iterator<Item = &'o str> {
    let result = item.object("result").map(|result| result.array("content")).unwrap_or_default();
    let parts = item.array("contentItems").iter().chain(result);
    parts.filter_map(|part| part.as_object().map(|part| part.text("text")))
}

/// The changed files, each with the kind of its change. The changes themselves are in the call's arguments.
fn changes_of(item: &Object<'_>) -> Vec<String> {
    let changes = objects(item, "changes");
    let named = changes.filter(|change| !change.text("path").is_empty());
    let kind = |change: &Object<'_>| change.object("kind").map_or("", |kind| kind.text("type")).to_owned();
    named
        .map(|change| sentence(&[&*kind(change), " ", change.text("path")]).trim_start().to_owned())
        .collect()
}

fn lines<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut lines = String::new();
    for text in texts.into_iter().filter(|text| !text.is_empty()) {
        if !lines.is_empty() && !lines.ends_with('\n') {
            lines.push('\n');
        }
        lines.push_str(text);
    }
    lines
}
