//! The session before the turn: earlier turns, what the client knows of them, and what it sends.

use serde_json::{Value as Json, json};

use turnwire::turn::Newest;

use super::random::Random;
use super::time::{Millis, iso};

/// When the case begins on the clocks: earlier turns were minutes before it.
pub(crate) const START: Millis = 3_600_000;

/// How far the client's clock may be behind the server's: what the package allows for.
const ALLOWANCE: Millis = 60_000;

/// A session with some turns in it.
#[derive(Debug)]
pub(crate) struct History {
    /// The oldest first.
    turns: Vec<Turn>,
    pub(crate) newest: Newest,
    /// What the turn is told to follow.
    pub(crate) previous_turn_id: String,
    /// By the client's clock.
    pub(crate) since: String,
    /// How far the server's clock is ahead of the client's.
    pub(crate) skew: i64,
    /// Whether an older turn cannot be told from the new one, as long as that is not there.
    pub(crate) is_confusing: bool,
    /// Whether the client knows none of the turns that are listed.
    pub(crate) is_elsewhere: bool,
    /// What another client says after the turn, if it does.
    pub(crate) later: Option<&'static str>,
}

/// An earlier turn.
#[derive(Debug)]
struct Turn {
    id: String,
    /// The one that it follows.
    previous: Option<String>,
    said: &'static str,
    /// By the server's clock.
    created_at: String,
}

/// The words that the user says, this time and most other times.
pub(crate) const INPUT: &str = "go on";

impl History {
    pub(crate) fn draw(random: &mut Random) -> Self {
        let count = random.pick(&[0, 0, 1, 2, 3, 30]);
        let is_unknown = random.percent(20);
        let is_wrong = !is_unknown && random.percent(20);
        let most = if is_wrong { 3_000_000 } else { 50_000 };
        let skew =
            i64::try_from(random.below(2 * most)).expect("small") - i64::try_from(most).expect("small");
        // Turns of the last minute are told apart by their order only.
        let closest = if is_unknown { 4 * ALLOWANCE } else { 1000 };
        let mut at = START - closest;
        let mut times: Vec<Millis> = (0..count)
            .map(|_| {
                at -= random.between(1000, 30_000);
                at
            })
            .collect();
        times.reverse();
        let mut turns: Vec<Turn> = Vec::new();
        for (number, at) in (100..).zip(times) {
            turns.push(Turn {
                id: format!("turn-{number}"),
                previous: turns.last().filter(|_| !random.percent(5)).map(|turn| turn.id.clone()),
                said: if random.percent(70) { INPUT } else { "something else" },
                created_at: iso(at, skew),
            });
        }
        // What another client has said a moment ago this one does not know.
        let is_behind = turns.len() > 1 && random.percent(20);
        if let Some(turn) = turns.last_mut().filter(|_| is_behind) {
            turn.said = "something else";
        }
        let newest = match turns.iter().rev().nth(usize::from(is_behind)) {
            _ if is_unknown => Newest::Unknown,
            Some(turn) => Newest::Turn(turn.id.clone()),
            None => Newest::None,
        };
        let previous_turn_id = match random.below(8) {
            0 => "auto".to_owned(),
            1 => "none".to_owned(),
            2 if !turns.is_empty() => turns[random.index(turns.len())].id.clone(),
            _ => String::new(),
        };
        let is_older = is_unknown && turns.iter().any(|turn| turn.said == INPUT);
        // The last turn may be on a branch that another client has begun.
        let is_elsewhere =
            is_behind && !is_unknown && turns.last().is_some_and(|turn| turn.previous.is_none());
        let is_confusing = is_older || is_elsewhere;
        let later = random.pick(&[None, None, Some(INPUT), Some("something else")]);
        let since = iso(START - ALLOWANCE, 0);
        Self { turns, newest, previous_turn_id, since, skew, is_confusing, is_elsewhere, later }
    }

    /// The turn that a start with this parameter follows.
    pub(crate) fn followed(&self, previous_turn_id: Option<&str>) -> Option<String> {
        match previous_turn_id {
            None | Some("auto") => self.turns.last().map(|turn| turn.id.clone()),
            Some("none") => None,
            Some(id) => Some(id.to_owned()),
        }
    }

    /// The session's last turn before this one.
    pub(crate) fn newest_id(&self) -> Option<String> {
        self.turns.last().map(|turn| turn.id.clone())
    }

    /// A turn and those that it follows, as the server keeps them.
    pub(crate) fn chain(&self, first: Option<String>) -> Vec<Json> {
        let mut next = first;
        let mut chain = Vec::new();
        while let Some(turn) = next.as_ref().and_then(|id| self.turns.iter().find(|turn| turn.id == *id)) {
            let state = json!({"status": "done", "output": null, "required_actions": []});
            let input = message(turn.said);
            chain.push(record(&turn.id, turn.previous.as_deref(), &input, &state, &turn.created_at));
            next.clone_from(&turn.previous);
        }
        chain
    }
}

pub(crate) fn message(text: &str) -> Json {
    json!([{"type": "user.message", "content": text}])
}

/// A turn as servers keep it.
pub(crate) fn record(id: &str, previous: Option<&str>, input: &Json, state: &Json, created_at: &str) -> Json {
    json!({"id": id, "session_id": "s", "previous_turn_id": previous, "input": input, "state": state,
           "created_by_subject": {"subject_id": "ada", "subject_type": "user", "subject_slug": "ada"},
           "created_at": created_at})
}
