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
        let newest = match turns.last() {
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
        let is_confusing = is_unknown && turns.iter().any(|turn| turn.said == INPUT);
        Self { turns, newest, previous_turn_id, since: iso(START - ALLOWANCE, 0), skew, is_confusing }
    }

    /// The turn that a start with this parameter follows.
    pub(crate) fn followed(&self, previous_turn_id: Option<&str>) -> Option<String> {
        match previous_turn_id {
            None | Some("auto") => self.turns.last().map(|turn| turn.id.clone()),
            Some("none") => None,
            Some(id) => Some(id.to_owned()),
        }
    }

    /// The session's turns, newest first: along what each one follows, from the one given or the newest on.
    pub(crate) fn list(&self, first: Option<Json>, limit: usize) -> Vec<Json> {
        let mut next = match &first {
            Some(turn) => turn["previous_turn_id"].as_str().map(str::to_owned),
            None => self.turns.last().map(|turn| turn.id.clone()),
        };
        let mut listed: Vec<Json> = first.into_iter().collect();
        while let Some(turn) = next.as_ref().and_then(|id| self.turns.iter().find(|turn| turn.id == *id)) {
            let state = json!({"status": "done", "output": null, "required_actions": []});
            listed.push(record(
                &turn.id,
                turn.previous.as_deref(),
                &message(turn.said),
                &state,
                &turn.created_at,
            ));
            next.clone_from(&turn.previous);
        }
        listed.truncate(limit);
        listed
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
