//! Finds the turn of a start that got no response, among the session's newest turns.

use crate::iso::millis;
use crate::json::{Object, Value};

/// The session's newest turn before a start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Newest {
    /// Not known: the session was not read.
    #[default]
    Unknown,
    /// The session had no turn.
    None,
    /// The turn with this id.
    Turn(String),
}

impl Newest {
    /// The newest of a session's listed turns; `None` if that depends on the rest of the list. Some servers list the
    /// newest turn first, others the oldest.
    pub(super) fn of(turns: &[Value<'_>], is_all: bool) -> Option<Self> {
        let Some((first, last)) = ends(turns) else { return is_all.then_some(Self::None) };
        let newest = match is_newer(turns, first, last) {
            Some(true) => first,
            Some(false) if is_all => last,
            None if is_all && turns.len() == 1 => first,
            _ => return is_all.then_some(Self::Unknown),
        };
        Some(Self::Turn(newest.text("id").to_owned()))
    }
}

/// What is known of a start, to distinguish its turn from others. By default nothing is known. The driver then reads
/// the session's newest turn before the start, and [`TurnDriver::newest`](super::TurnDriver::newest) returns it.
#[derive(Debug, Clone, Default)]
pub struct StartTrace {
    /// The session's newest turn before the start.
    pub newest: Newest,
    /// When the start is sent, by this machine's clock, in milliseconds since 1970. 0 if the newest turn was read just
    /// before: the order of turns is then more reliable than clocks.
    pub started_at: u64,
    /// When this client started the newest turn, by the same clock; 0 if another client did. It shows how far the
    /// server's clock is ahead.
    pub newest_started_at: u64,
    /// The ids of turns that are known to be different ones.
    pub others: Vec<String>,
}

/// What the session's turns show about a start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Finding<'v, 'a> {
    /// It began this turn.
    Begun(&'v Object<'a>),
    /// It began no turn.
    Absent,
    /// Several turns match, or one matches that another client may have started.
    Unclear,
}

/// What a start sent, for servers that return it with a turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sent<'s> {
    /// The items of its input.
    pub(super) input: &'s [Value<'s>],
    /// The requested previous turn.
    pub(super) previous_turn_id: &'s str,
}

impl Sent<'_> {
    /// Whether it follows the session's last turn, whichever that is.
    fn is_auto(&self) -> bool {
        matches!(self.previous_turn_id, "" | "auto")
    }

    /// Whether a turn has this input and this previous turn.
    fn fits(&self, turn: &Object<'_>) -> bool {
        let wanted = if self.previous_turn_id == "none" { "" } else { self.previous_turn_id };
        is_like(self.input, turn.array("input")) && (self.is_auto() || previous(turn) == wanted)
    }
}

impl StartTrace {
    /// Whether these turns reach back to before the start, so that the rest of the list need not be read.
    pub(super) fn is_past(&self, turns: &[Value<'_>]) -> bool {
        let Some((first, last)) = ends(turns) else { return false };
        // Some servers list the oldest first.
        is_newer(turns, first, last) == Some(true)
            && match &self.newest {
                Newest::Turn(id) => get(turns, id).is_some(),
                Newest::None => false,
                Newest::Unknown => !self.is_recent(last, None),
            }
    }

    /// Looks for the turn among the session's turns, in any order. If several match, it is unknown which one it is:
    /// other clients may have sent the same input. Without `sent`, which not all servers return with a turn, any new
    /// turn matches.
    pub(super) fn find<'v, 'a>(&self, turns: &'v [Value<'a>], sent: Option<&Sent<'_>>) -> Finding<'v, 'a> {
        let newest = self.newest_id().and_then(|id| get(turns, id));
        // The list may contain only the branch of the session's last turn, and omit turns of other branches.
        let is_whole = newest.is_some() || self.newest_id().is_none();
        let mut finding = if is_whole { Finding::Absent } else { Finding::Unclear };
        let mut found = "";
        for turn in objects(turns) {
            let id = turn.text("id");
            // A list grows while it is read page by page, so a turn may be on two pages.
            let is_known = id == found || Some(id) == self.newest_id();
            if is_known || self.others.iter().any(|other| other == id) {
                continue;
            }
            match self.may_be(turns, newest, turn, sent) {
                Some(true) if found.is_empty() => {
                    finding = Finding::Begun(turn);
                    found = id;
                }
                Some(_) => return Finding::Unclear,
                // This turn may have started another branch, which would hide the turn that is looked for.
                None if found.is_empty() && self.is_new(turn) => finding = Finding::Unclear,
                None => {}
            }
        }
        finding
    }

    /// Whether this can be the start's turn: `Some(true)` if it is, unless another turn matches as well.
    fn may_be(
        &self,
        turns: &[Value<'_>],
        newest: Option<&Object<'_>>,
        turn: &Object<'_>,
        sent: Option<&Sent<'_>>,
    ) -> Option<bool> {
        if sent.is_some_and(|sent| !sent.fits(turn)) {
            return None;
        }
        let Some(newest) = newest else {
            return match &self.newest {
                // The input is better evidence than a clock.
                Newest::Unknown => (sent.is_some() || self.is_recent(turn, None)).then_some(false),
                Newest::None => Some(true),
                // If the newest turn is not on this branch, the branch's last turn came after it.
                Newest::Turn(_) => {
                    let is_last = with(turns, "previous_turn_id", turn.text("id")).is_none();
                    let is_placed = sent.is_some_and(|sent| !sent.is_auto());
                    Some(is_placed && is_last && self.is_recent(turn, None))
                }
            };
        };
        let is_newer = is_newer(turns, turn, newest);
        if is_newer == Some(false) {
            return None;
        }
        let mut is_sure = is_newer.is_some() && self.is_recent(turn, Some(newest));
        let before = previous(turn);
        if sent.is_some_and(Sent::is_auto) && before != newest.text("id") {
            // It follows a turn that came after the newest one.
            let is_another = if before.is_empty() {
                objects(turns).any(|turn| !previous(turn).is_empty())
            } else {
                descends(turns, newest, before)
            };
            if is_another {
                return None;
            }
            is_sure &=
                get(turns, before).is_some_and(|before| self::is_newer(turns, before, newest) == Some(true));
        }
        Some(is_sure)
    }

    /// Whether another client's turn may have come after the start, if no earlier turn is known.
    fn is_new(&self, turn: &Object<'_>) -> bool {
        match self.newest {
            Newest::Unknown => self.is_recent(turn, None),
            Newest::None => true,
            Newest::Turn(_) => false,
        }
    }

    fn newest_id(&self) -> Option<&str> {
        match &self.newest {
            Newest::Turn(id) => Some(id),
            _ => None,
        }
    }

    /// Whether a turn was created no earlier than the start, by the server's clock as estimated from the newest turn.
    fn is_recent(&self, turn: &Object<'_>, newest: Option<&Object<'_>>) -> bool {
        let created_at = |turn: &Object<'_>| millis(turn.text("created_at"));
        let mut earliest = self.started_at;
        if let Some(newest_at) = newest.and_then(created_at).filter(|_| self.newest_started_at > 0) {
            earliest = newest_at + earliest.saturating_sub(self.newest_started_at);
        }
        self.started_at == 0 || created_at(turn).is_some_and(|at| at + ALLOWANCE >= earliest)
    }
}

/// How far the server's clock may be behind, plus how much the duration of starts may vary, in milliseconds.
const ALLOWANCE: u64 = 10_000;

fn objects<'v, 'a>(turns: &'v [Value<'a>]) -> impl DoubleEndedIterator<Item = &'v Object<'a>> {
    turns.iter().filter_map(Value::as_object)
}

fn ends<'v, 'a>(turns: &'v [Value<'a>]) -> Option<(&'v Object<'a>, &'v Object<'a>)> {
    Some((objects(turns).next()?, objects(turns).next_back()?))
}

fn get<'v, 'a>(turns: &'v [Value<'a>], id: &str) -> Option<&'v Object<'a>> {
    with(turns, "id", id)
}

/// The first turn with this text in this field.
fn with<'v, 'a>(turns: &'v [Value<'a>], name: &str, text: &str) -> Option<&'v Object<'a>> {
    objects(turns).find(|turn| turn.text(name) == text)
}

/// The id of the turn before this one.
fn previous<'o>(turn: &'o Object<'_>) -> &'o str {
    turn.text("previous_turn_id")
}

/// Whether a turn follows the turn with this id, directly or through others.
fn descends(turns: &[Value<'_>], turn: &Object<'_>, id: &str) -> bool {
    let mut before = previous(turn);
    for _ in turns {
        if before.is_empty() || before == id {
            break;
        }
        before = get(turns, before).map_or("", previous);
    }
    before == id
}

/// Whether a turn is newer than another one, by their previous turns and the server's clock. Several turns may have the
/// same creation time.
fn is_newer(turns: &[Value<'_>], turn: &Object<'_>, than: &Object<'_>) -> Option<bool> {
    let (id, than_id) = (turn.text("id"), than.text("id"));
    let (at, than_at) = (turn.text("created_at"), than.text("created_at"));
    let is_told = at != than_at && !at.is_empty() && !than_at.is_empty();
    if previous(turn) == than_id || !is_told && descends(turns, turn, than_id) {
        Some(true)
    } else if previous(than) == id || !is_told && descends(turns, than, id) {
        Some(false)
    } else {
        is_told.then_some(at > than_at)
    }
}

/// Whether items equal what was sent, apart from fields that the server added.
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
        // Some servers store a text as a list of parts, others a single text part as a string.
        (Value::Array(parts), Value::String(text)) | (Value::String(text), Value::Array(parts)) => {
            let only = parts.first().and_then(Value::as_object).filter(|_| parts.len() == 1);
            only.is_some_and(|part| part.text("type") == "text" && part.text("text") == &**text)
        }
        (Value::Array(sent), Value::Array(kept)) => is_like(sent, kept),
        _ => sent.to_json() == kept.to_json(),
    }
}
