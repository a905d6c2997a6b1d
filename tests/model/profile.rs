//! Kinds of cases: which faults come, and for how long.

use turnwire::protocol::Call;
use turnwire::turn::Reconnect;

use super::fault::{Fault, barren, fatal, lost_start, passing, silence, unnumbered};
use super::random::Random;

/// A kind of case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Profile {
    /// Faults that pass.
    Recover,
    /// The same, and the stream is gone after some subscriptions.
    Expire,
    /// Streams without numbers.
    Unnumbered,
    /// Events that the server has lost.
    Hole,
    /// Starts that are refused or lost.
    Start,
    /// A fault that ends the read.
    Fatal,
    /// From some request on, nothing gets through.
    Exhaust,
    /// The caller stops listening.
    Abort,
    /// Nothing is recovered.
    Off,
    /// Every request has a fault of any kind, without end.
    Endless,
}

impl Profile {
    const ALL: [Self; 16] = [
        Self::Recover,
        Self::Recover,
        Self::Recover,
        Self::Recover,
        Self::Recover,
        Self::Expire,
        Self::Expire,
        Self::Unnumbered,
        Self::Hole,
        Self::Start,
        Self::Start,
        Self::Fatal,
        Self::Exhaust,
        Self::Abort,
        Self::Off,
        Self::Endless,
    ];

    pub(crate) fn of(seed: u64) -> Self {
        Self::ALL[usize::try_from(seed % Self::ALL.len() as u64).expect("small")]
    }

    pub(crate) fn reconnect(self, random: &mut Random) -> Reconnect {
        if self == Self::Off {
            return Reconnect::OFF;
        }
        let base_delay = random.pick(&[0, 1, 500]);
        Reconnect {
            max_attempts: random.pick(&[2, 3, 5, 10]),
            base_delay,
            max_delay: random.pick(&[100, 8000]),
        }
    }
}

/// The faults that are still to come in a life of a turn.
#[derive(Debug)]
pub(crate) struct Schedule {
    profile: Profile,
    random: Random,
    percent: u64,
    /// Faults that may still come.
    left: u32,
    /// Requests before the one at which everything changes.
    until: u32,
    /// Whether streams are then silent, without any other fault.
    is_silent: bool,
}

/// The facts about the driver that a schedule may use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Situation {
    pub(crate) call: Call,
    /// Whether the driver gives up after one more failure.
    pub(crate) is_at_limit: bool,
}

impl Schedule {
    pub(crate) fn draw(profile: Profile, random: &mut Random) -> Self {
        let endless = matches!(profile, Profile::Exhaust | Profile::Endless);
        let left = if endless { u32::MAX } else { u32::try_from(random.between(0, 30)).expect("small") };
        Self {
            profile,
            percent: random.pick(&[20, 60, 95]),
            left,
            until: u32::try_from(random.below(6)).expect("small"),
            is_silent: random.percent(30),
            random: random.fork(),
        }
    }

    /// No more faults.
    pub(crate) fn clean() -> Self {
        Self {
            profile: Profile::Recover,
            random: Random::new(0),
            percent: 0,
            left: 0,
            until: 0,
            is_silent: false,
        }
    }

    /// Whether only streams fail without end, and all other requests are answered.
    pub(crate) fn spares_questions(&self) -> bool {
        self.profile == Profile::Exhaust && self.percent <= 50
    }

    /// Whether there are no faults, neither before nor from now on.
    pub(crate) fn is_over(&self) -> bool {
        self.percent == 0
    }

    /// The fault of the next request.
    pub(crate) fn next(&mut self, situation: Situation) -> Fault {
        let Situation { call, is_at_limit } = situation;
        let starts = matches!(call, Call::CreateTurn | Call::CreateTurnStream);
        if self.left == 0 {
            return Fault::None;
        }
        let is_turning = self.until == 0;
        self.until = self.until.saturating_sub(1);
        let random = &mut self.random;
        let fault = match self.profile {
            Profile::Endless => match random.below(if starts { 3 } else { 5 }) {
                0 if starts => lost_start(random),
                0 if random.percent(10) => fatal(random, call),
                1 if call.streams() && random.percent(30) => unnumbered(random),
                _ => passing(random, call),
            },
            Profile::Exhaust if is_turning && call.streams() && !starts && self.is_silent => silence(),
            Profile::Exhaust if is_turning && !starts && (call.streams() || self.percent > 50) => {
                barren(random, call)
            }
            Profile::Exhaust if is_turning => return Fault::None,
            Profile::Fatal if is_turning && !starts => {
                self.left = 0;
                return fatal(random, call);
            }
            // Without the reads before it, a lost start can rarely be distinguished from others.
            _ if call == Call::ListNewestTurns && random.percent(80) => return Fault::None,
            _ if is_at_limit || !random.percent(self.percent) => return Fault::None,
            Profile::Start if starts => lost_start(random),
            Profile::Unnumbered if call.streams() && random.percent(40) => unnumbered(random),
            _ => passing(random, call),
        };
        self.left -= 1;
        fault
    }
}
