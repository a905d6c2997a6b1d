//! The standard's algorithm word by word, on a whole stream: slow, and simple enough to be right.

use super::{Outcome, Seen};

pub(super) fn decode(stream: &[u8]) -> Outcome {
    let stream = stream.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(stream);
    let text = String::from_utf8_lossy(stream);
    let (lines, unfinished) = lines(&text);
    let mut outcome = Outcome::default();
    let mut data = String::new();
    let mut event = String::new();
    let mut id = None;
    for line in lines {
        if line.is_empty() {
            outcome.last_event_id.clone_from(&id);
            if let Some(data) = data.strip_suffix('\n') {
                outcome.frames.push(Seen { event: event.clone(), data: data.to_owned(), id: id.clone() });
            }
            data.clear();
            event.clear();
            outcome.cut = false;
            continue;
        }
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "event" => value.clone_into(&mut event),
            "data" => {
                data.push_str(value);
                data.push('\n');
            }
            "id" if !value.contains('\0') => {
                id = Some(value.to_owned());
                outcome.cut = true;
            }
            "retry" if value.bytes().all(|byte| byte.is_ascii_digit()) => {
                outcome.retry = value.parse().ok().or(outcome.retry);
            }
            _ => {}
        }
    }
    let line_cut = !unfinished.is_empty() && !unfinished.starts_with(':');
    outcome.cut |= line_cut || !data.is_empty() || !event.is_empty();
    outcome
}

/// The lines that have their ends, and what is left after them.
fn lines(text: &str) -> (Vec<String>, String) {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' => {
                characters.next_if_eq(&'\n');
                lines.push(std::mem::take(&mut line));
            }
            '\n' => lines.push(std::mem::take(&mut line)),
            other => line.push(other),
        }
    }
    (lines, line)
}
