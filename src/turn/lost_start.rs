//! Whether a turn began whose start was sent and never answered: the session's newest turns tell.

use crate::json::{Object, Value};

/// The session's newest turn before a start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Newest {
    /// Not known: the session was not read.
    #[default]
    Unknown,
    /// There was none.
    None,
    /// The one of this id.
    Turn(String),
}

/// What is known of a start, to tell its turn from others.
#[derive(Debug, Clone, Default)]
pub struct StartTrace {
    /// The session's newest turn before it.
    pub newest: Newest,
    /// The time before which the turn cannot have been created, by this machine's clock, with an allowance
    /// for the server's: ISO 8601 in UTC.
    pub since: String,
    /// The ids of turns that are known to be others.
    pub others: Vec<String>,
}

/// What the session's turns say of a start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Finding<'v, 'a> {
    /// It began: this turn.
    Begun(&'v Object<'a>),
    /// There is no such turn.
    Absent,
    /// There is one like it, which may be an older one.
    Unclear,
}

impl StartTrace {
    /// Whether these turns, newest first, reach back behind the start.
    pub(super) fn is_past(&self, turns: &[Value<'_>]) -> bool {
        let created_at = |turn: Option<&Value<'_>>| -> String {
            turn.and_then(Value::as_object).map_or("", |turn| turn.text("created_at")).to_owned()
        };
        let (first, last) = (created_at(turns.first()), created_at(turns.last()));
        // Some servers list the oldest first.
        first >= last
            && match &self.newest {
                Newest::Turn(id) => has_turn(turns, id),
                Newest::None => false,
                Newest::Unknown => !self.is_recent(&last),
            }
    }

    /// Looks for the turn among the session's turns, in any order. `input` is what was sent,
    /// `previous_turn_id` what the turn was told to follow. Of several that it can be, it is the oldest.
    pub(super) fn find<'v, 'a>(
        &self,
        turns: &'v [Value<'a>],
        input: &Value<'_>,
        previous_turn_id: &str,
    ) -> Finding<'v, 'a> {
        let newest = match &self.newest {
            Newest::Turn(id) => id,
            _ => "",
        };
        let follows = match previous_turn_id {
            "" | "auto" => None,
            "none" => Some(""),
            id => Some(id),
        };
        let sent = input.as_array().unwrap_or_default();
        // The list is of the branch of the session's last turn: what was begun on another one is not in it.
        let is_whole = newest.is_empty() || has_turn(turns, newest);
        let turns = turns.iter().filter_map(Value::as_object);
        // By the server's own clock: what is older than that turn is not what was started after it.
        let newest_at = turns.clone().find(|turn| turn.text("id") == newest);
        let newest_at = newest_at.map_or("", |turn| turn.text("created_at"));
        let mut finding = if is_whole { Finding::Absent } else { Finding::Unclear };
        for turn in turns {
            let (id, created_at) = (turn.text("id"), turn.text("created_at"));
            if id == newest
                || created_at < newest_at
                || self.others.iter().any(|other| other == id)
                || follows.is_some_and(|follows| turn.text("previous_turn_id") != follows)
                || !is_like(sent, turn.array("input"))
            {
                continue;
            }
            let is_sure = match self.newest {
                Newest::Unknown => self.is_recent(created_at),
                Newest::Turn(_) | Newest::None => is_whole || follows.is_some(),
            };
            match finding {
                Finding::Begun(known) if known.text("created_at") <= created_at => {}
                _ if is_sure => finding = Finding::Begun(turn),
                Finding::Absent => finding = Finding::Unclear,
                _ => {}
            }
        }
        finding
    }

    /// The same where servers do not say what a turn was given, nor what it follows: then only its time tells,
    /// and that it is the only one.
    pub(super) fn find_only<'v, 'a>(&self, turns: &'v [Value<'a>]) -> Finding<'v, 'a> {
        let newest = match &self.newest {
            Newest::Turn(id) => id,
            _ => "",
        };
        let is_known = |id: &str| id == newest || self.others.iter().any(|other| other == id);
        let mut finding = Finding::Absent;
        for turn in turns.iter().filter_map(Value::as_object) {
            if is_known(turn.text("id")) || !self.is_recent(turn.text("created_at")) {
                continue;
            }
            let is_only = finding == Finding::Absent && self.newest != Newest::Unknown;
            finding = if is_only { Finding::Begun(turn) } else { Finding::Unclear };
        }
        finding
    }

    /// Up to the second, and both in UTC, times are in order as texts.
    fn is_recent(&self, created_at: &str) -> bool {
        const SECONDS: usize = "2026-01-01T00:00:00".len();
        let created_at = created_at.get(..SECONDS);
        created_at.is_some() && created_at >= self.since.get(..SECONDS)
    }
}

fn has_turn(turns: &[Value<'_>], id: &str) -> bool {
    turns.iter().filter_map(Value::as_object).any(|turn| turn.text("id") == id)
}

/// Whether items are what was sent: the server may add fields of its own.
fn is_like(sent: &[Value<'_>], kept: &[Value<'_>]) -> bool {
    sent.len() == kept.len() && sent.iter().zip(kept).all(|(sent, kept)| has_all(sent, kept))
}

fn has_all(sent: &Value<'_>, kept: &Value<'_>) -> bool {
    match (sent, kept) {
        (Value::Object(sent), Value::Object(kept)) => {
            // Not every server keeps the names of files.
            let is_kept = |name: &str, value| match kept.get(name) {
                None => name == "name",
                Some(kept) => has_all(value, kept) || (name == "name" && kept.as_str() == Some("")),
            };
            sent.iter().all(|(name, value)| is_kept(name, value))
        }
        // Some keep a text as a list of parts, or the other way round.
        (Value::Array(parts), Value::String(text)) | (Value::String(text), Value::Array(parts)) => {
            let only = parts.first().and_then(Value::as_object).filter(|_| parts.len() == 1);
            only.is_some_and(|part| part.text("type") == "text" && part.text("text") == text)
        }
        (Value::Array(sent), Value::Array(kept)) => is_like(sent, kept),
        _ => sent.to_json() == kept.to_json(),
    }
}
