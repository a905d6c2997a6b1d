//! The session before the turn: earlier turns, what the client knows of them and sends, and what another client sends
//! at the same time.

use serde_json::{Value as Json, json};

use turnwire::turn::{Newest, StartTrace};

use super::random::Random;
use super::time::{Millis, epoch, iso};

/// The clock time at which the case begins: earlier turns were before it.
pub(crate) const START: Millis = 3_600_000;

/// How far the server's clock may be behind the client's, with its own name in the package.
const ALLOWANCE: i64 = 10_000;

/// How long before the start another client has sent the same input, if it has, and if the clocks are right.
const LONG: Millis = 30_000;

/// A session with some turns in it.
#[derive(Debug)]
pub(crate) struct History {
    /// The oldest first.
    turns: Vec<Turn>,
    pub(crate) knowledge: Knowledge,
    /// How many turns another client has made since the client last knew the newest one.
    unknown: usize,
    /// The turn that the new turn must follow.
    pub(crate) previous_turn_id: String,
    /// How far the server's clock is ahead of the client's.
    pub(crate) skew: i64,
    /// Whether the server's clock counts in seconds.
    is_coarse: bool,
    /// Whether all turns are listed, the oldest first, and not only those that the last one follows, newest first.
    pub(crate) is_oldest_first: bool,
    /// The message that another client sends just before the turn, if it does.
    pub(crate) at_once: Option<&'static str>,
    /// The message of another client after the turn, if any, and whether it starts a new branch.
    pub(crate) later: Option<(&'static str, bool)>,
}

/// What the client knows of the session's turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Knowledge {
    /// Nothing: it has only fetched the session.
    Fetched,
    /// The newest turn, which it has read.
    Read,
    /// The newest turn, which it has started itself.
    Started,
}

/// An earlier turn.
#[derive(Debug)]
struct Turn {
    id: String,
    /// The one that it follows.
    previous: Option<String>,
    said: &'static str,
    at: Millis,
    is_running: bool,
}

/// The user's input, of this turn and of most others.
pub(crate) const INPUT: &str = "go on";

/// Any other input.
const ELSE: &str = "something else";

impl History {
    pub(crate) fn draw(random: &mut Random) -> Self {
        let count = random.pick(&[0, 0, 1, 2, 3, 30]);
        let knowledge =
            random.pick(&[Knowledge::Fetched, Knowledge::Fetched, Knowledge::Read, Knowledge::Started]);
        // Where the newest turn was only read, the clocks decide what came after it, so they must be right that far.
        let may_be_wrong = knowledge != Knowledge::Read;
        let most = if may_be_wrong && random.percent(40) { 3_000_000 } else { ALLOWANCE - 1000 };
        let skew = i64::try_from(random.below(2 * most.unsigned_abs())).expect("small") - most;
        // The messages of another client since the client knew the newest turn.
        let is_stale = knowledge != Knowledge::Fetched && count > 1 && random.percent(40);
        let unknown = if is_stale { random.pick(&[1, 2]).min(count - 1) } else { 0 };
        let closest = if is_stale { LONG } else { random.pick(&[0, 1, 300, 3000, 7000, 60_000]) };
        let mut next = START - closest;
        let mut times = Vec::new();
        for _ in 0..count {
            times.push(next);
            next -= random.pick(&[0, 1, 20, 1000, 30_000]);
        }
        times.reverse();
        let mut turns: Vec<Turn> = Vec::new();
        for (number, at) in (100..).zip(times) {
            turns.push(Turn {
                id: format!("turn-{number}"),
                previous: turns.last().filter(|_| !random.percent(5)).map(|turn| turn.id.clone()),
                said: if random.percent(70) { INPUT } else { ELSE },
                at,
                is_running: false,
            });
        }
        if let Some(last) = turns.last_mut() {
            last.is_running = random.percent(30);
        }
        let previous_turn_id = match random.below(8) {
            0 => "auto".to_owned(),
            1 => "none".to_owned(),
            2 if !turns.is_empty() => turns[random.index(turns.len())].id.clone(),
            _ => String::new(),
        };
        let others = [None, None, None, Some(INPUT), Some(ELSE)];
        let is_oldest_first = random.percent(40);
        // Where a newer branch hides the turn, nothing distinguishes two clients that start over with the same message;
        // and where no earlier turn is known, only a correct clock shows that the branch is newer.
        let is_alone = turns.is_empty() || previous_turn_id == "none";
        let is_blind = knowledge == Knowledge::Fetched && skew.abs() > ALLOWANCE;
        let is_hidden = |said| !is_oldest_first && (is_blind || is_alone && said == INPUT);
        let later = random.pick(&others).map(|said| (said, !is_hidden(said) && random.percent(20)));
        Self {
            turns,
            knowledge,
            unknown,
            previous_turn_id,
            skew,
            is_coarse: random.percent(30),
            is_oldest_first,
            at_once: random.pick(&others),
            later,
        }
    }

    /// The newest turn that the client knows before it reads any.
    fn known(&self) -> Option<&Turn> {
        self.turns.iter().rev().nth(self.unknown)
    }

    /// What the client knows when it starts a turn now.
    pub(crate) fn trace(&self, now: Millis) -> StartTrace {
        let newest = match self.known() {
            _ if self.knowledge == Knowledge::Fetched => Newest::Unknown,
            Some(turn) => Newest::Turn(turn.id.clone()),
            None => Newest::None,
        };
        // The start took a moment.
        let own = self.known().filter(|_| self.knowledge == Knowledge::Started);
        let newest_started_at = own.map_or(0, |turn| epoch(turn.at.saturating_sub(50)));
        StartTrace { newest, started_at: epoch(now), newest_started_at, others: Vec::new() }
    }

    /// Whether the client may mistake another client's turn, or an older one, for the new one: `newest` is what the client
    /// knows by now, and `has_begun` whether the new one is there.
    pub(crate) fn is_confusing(&self, newest: &Newest, has_begun: bool) -> bool {
        if *newest == Newest::Unknown {
            return has_begun || !self.turns.is_empty();
        }
        let newest_id = match newest {
            Newest::Turn(id) => id,
            _ => "",
        };
        let is_chain = !self.is_oldest_first;
        let is_placed = !matches!(&*self.previous_turn_id, "" | "auto");
        let is_same = |said: Option<&str>| said == Some(INPUT);
        let stale = self.turns.iter().skip_while(|turn| turn.id != newest_id).skip(1);
        let roots = self.turns.iter().skip(1).filter(|turn| turn.previous.is_none()).count();
        // What is listed may be another branch, without the turn that is known.
        let last = self.turns.last().map(|turn| &turn.id);
        let is_hidden =
            is_chain && !newest_id.is_empty() && !self.ancestors(last).any(|turn| turn.id == newest_id);
        stale.into_iter().any(|turn| turn.said == INPUT || turn.previous.is_none())
            || is_hidden
            // Turns with the same time that do not follow each other.
            || roots > 0
            || has_begun
                && (is_same(self.at_once)
                    || is_same(self.later.map(|(said, _)| said))
                    // With the same time as the known turn, which it does not follow.
                    || is_placed && self.turns.iter().any(|turn| turn.at + 1000 > START)
                    // On a branch without the turn that would show the server's clock.
                    || is_chain && is_placed && self.skew.abs() > ALLOWANCE
                    || is_chain && self.later.is_some_and(|(_, is_afresh)| is_afresh || is_placed))
    }

    /// The turn that a start with this parameter follows.
    pub(crate) fn followed(&self, previous_turn_id: Option<&str>) -> Option<String> {
        match previous_turn_id {
            None | Some("auto") => self.newest_id(),
            Some("none") => None,
            Some(id) => Some(id.to_owned()),
        }
    }

    /// The session's last turn before this one.
    pub(crate) fn newest_id(&self) -> Option<String> {
        self.turns.last().map(|turn| turn.id.clone())
    }

    /// A time by the server's clock, in the form in which it writes times.
    pub(crate) fn time(&self, at: Millis) -> String {
        let time = iso(at, self.skew);
        if self.is_coarse { format!("{}Z", &time[..19]) } else { time }
    }

    /// The earlier turns that are listed before a turn that follows `first`, newest first.
    pub(crate) fn listed(&self, first: Option<&String>) -> Vec<Json> {
        let records = |turn: &Turn| {
            let done = json!({"status": "done", "output": null, "required_actions": []});
            let state = if turn.is_running { json!({"status": "running"}) } else { done };
            record(&turn.id, turn.previous.as_deref(), &message(turn.said), &state, &self.time(turn.at))
        };
        if self.is_oldest_first {
            return self.turns.iter().rev().map(records).collect();
        }
        self.ancestors(first).map(records).collect()
    }

    /// A turn and those that it follows.
    fn ancestors(&self, first: Option<&String>) -> impl Iterator<Item = &Turn> {
        let find = |id: &String| self.turns.iter().find(|turn| turn.id == *id);
        let first = first.and_then(find);
        std::iter::successors(first, move |turn| turn.previous.as_ref().and_then(find))
    }
}

pub(crate) fn message(text: &str) -> Json {
    json!([{"type": "user.message", "content": text}])
}

/// A turn in the form in which servers keep it.
pub(crate) fn record(id: &str, previous: Option<&str>, input: &Json, state: &Json, created_at: &str) -> Json {
    json!({"id": id, "session_id": "s", "previous_turn_id": previous, "input": input, "state": state,
           "created_by_subject": {"subject_id": "ada", "subject_type": "user", "subject_slug": "ada"},
           "created_at": created_at})
}
