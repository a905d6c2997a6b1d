//! Random faults, of the kinds that a client can recover from.

use std::sync::Mutex;

use fastrand::Rng;

use super::grammar::{Faults, Grammar};
use super::request::View;
use super::surface::On;
use crate::lock::lock;

/// How much rarer faults of ordinary responses are than those of streams.
const ANSWER_DIVISOR: f64 = 4.0;

/// Random faults on every stream, and sometimes on reading turns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chaos {
    /// The same seed and order of requests produce the same faults.
    pub seed: u64,
    /// The probability of a fault for each stream, from 0 to 1.
    pub rate: f64,
}

/// The random state of one gateway.
#[derive(Debug)]
pub(crate) struct Dice {
    random: Mutex<Rng>,
    rate: f64,
}

impl Dice {
    pub(crate) fn new(chaos: Chaos) -> Self {
        Self { random: Mutex::new(Rng::with_seed(chaos.seed)), rate: chaos.rate }
    }

    /// The faults for a request.
    pub(crate) fn roll(&self, grammar: &Grammar, view: &View) -> Option<Faults> {
        let rate = match view.on {
            _ if view.streaming => self.rate,
            Some(On::Turn | On::Turns) => self.rate / ANSWER_DIVISOR,
            _ => return None,
        };
        let mut random = lock(&self.random);
        if random.f64() >= rate {
            return None;
        }
        let text = match view.on {
            Some(On::Connect) => socket(&mut random),
            _ if view.streaming => stream(&mut random),
            _ => answer(&mut random),
        };
        // Every text generated here follows the grammar, which a test checks.
        grammar.parse(&text).ok()
    }
}

/// A fault of an event stream, or of its response's head.
fn stream(random: &mut Rng) -> String {
    // Places near the beginning are as likely as distant ones.
    let events = 1 + (random.u64(..1024) >> random.u32(..11));
    let bytes = random.u64(..65_536) >> random.u32(..16);
    match random.u8(..20) {
        0..3 => format!("eof:{events}"),
        3 => format!("eof-bytes:{bytes}"),
        4..7 => format!("reset:{events}"),
        7 => format!("reset-bytes:{bytes}"),
        8 => format!("cut-char:{events}"),
        9 => format!("duplicate:{events}"),
        10 => format!("replay:{events}+reset:{}", events * 2 + 1),
        11 => format!("restart+eof:{}", events + 8),
        12 => format!("reorder:{events}"),
        13 => format!("gap:{events}:{}", random.u64(1..=3)),
        14 => format!("retry:{}+eof:{events}", random.u64(..50)),
        15 => "late-status:502".to_owned(),
        16 => "refuse".to_owned(),
        _ => answer(random),
    }
}

/// A fault of a WebSocket, of its turns, or of the answer that opens it.
fn socket(random: &mut Rng) -> String {
    let frames = 1 + (random.u64(..1024) >> random.u32(..11));
    match random.u8(..12) {
        0..3 => format!("eof:{frames}"),
        3..6 => format!("reset:{frames}"),
        6 => format!("drop-deltas:{}", random.u64(1..=4)),
        7 => "late-delta".to_owned(),
        8 => "early-events".to_owned(),
        9 => "refuse".to_owned(),
        _ => answer(random),
    }
}

/// A fault of any answer.
fn answer(random: &mut Rng) -> String {
    match random.u8(..5) {
        0 => "status:503".to_owned(),
        1 => "status:429:0".to_owned(),
        2 => "status:502".to_owned(),
        3 => "lost".to_owned(),
        _ => format!("slow-head:{}", random.u64(10..200)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::faults::TrapKind;

    fn view(on: On) -> View {
        View {
            method: "GET".to_owned(),
            path: String::new(),
            session: None,
            on: Some(on),
            streaming: matches!(on, On::Subscribe | On::Connect),
            after: None,
        }
    }

    fn rolled(seed: u64, rate: f64, on: On) -> Vec<Option<String>> {
        let dice = Dice::new(Chaos { seed, rate });
        let traps = ["drop-deltas[:N]", "late-delta", "early-events"].map(|form| TrapKind::new(form, ""));
        let grammar = Grammar::new(traps);
        (0..2000).map(|_| dice.roll(&grammar, &view(on)).map(|faults| faults.text)).collect()
    }

    #[test]
    fn a_seed_decides_everything() {
        assert_eq!(rolled(7, 0.5, On::Subscribe), rolled(7, 0.5, On::Subscribe));
        assert_ne!(rolled(7, 0.5, On::Subscribe), rolled(8, 0.5, On::Subscribe));
    }

    #[test]
    fn every_fault_that_is_made_follows_the_grammar() {
        // At these rates, only an invalid text would leave a request without a fault.
        for on in [On::Subscribe, On::Turn, On::Connect] {
            let texts = (0..5).flat_map(|seed| rolled(seed, 4.0, on));
            assert!(texts.into_iter().all(|text| text.is_some()));
        }
        let kinds: BTreeSet<String> = rolled(1, 1.0, On::Subscribe)
            .into_iter()
            .flatten()
            .map(|text| text.split([':', '+']).next().unwrap_or_default().to_owned())
            .collect();
        assert_eq!(kinds.len(), 16, "{kinds:?}");
    }

    #[test]
    fn the_rate_is_kept_and_ordinary_answers_fail_more_rarely() {
        let hits = |on| rolled(3, 0.5, on).into_iter().flatten().count();
        assert!((900..1100).contains(&hits(On::Subscribe)));
        assert!((190..310).contains(&hits(On::Turns)));
        assert_eq!(hits(On::Cancel), 0);
        assert_eq!(rolled(3, 0.0, On::Subscribe).into_iter().flatten().count(), 0);
    }
}
