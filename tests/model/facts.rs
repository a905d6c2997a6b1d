//! What has happened in a case, seen from outside the driver: a failure is reported with them, and the
//! driver's waits and requests are checked against them.

use std::collections::BTreeMap;

use turnwire::protocol::Call;
use turnwire::turn::{Awaited, Pause, Reconnect, Waiting};

use super::time::{Millis, moment, whole};

/// The longest wait that a server may ask for.
const LONGEST_WAIT: Millis = 300_000;
/// The longest wait that a stream can ask for.
const LONGEST_RETRY: Millis = 30_000;
/// The time between two reads of a running turn: the least and the most.
const PACE: (Millis, Millis) = (500, 2000);
/// A connection that stayed open this long did not fail.
const LONG: Millis = 30_000;
/// Requests in a row that bring nothing new: ten tries, a count that long connections reset a few times.
const MOST_IDLE: u32 = 100;

/// How the last request went.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on each other")]
pub(crate) struct Went {
    /// Whether it brought something new.
    pub(crate) is_progress: bool,
    /// When it was accepted, if it was a stream.
    pub(crate) opened_at: Option<Millis>,
    /// Whether a stream came to its end without an error.
    pub(crate) is_clean: bool,
    pub(crate) stood: Millis,
    pub(crate) status: u16,
    pub(crate) retry_after: Millis,
    pub(crate) is_offline: bool,
    pub(crate) has_failed: bool,
    /// Whether it was not sent.
    pub(crate) is_unsent: bool,
    /// Whether it is a page of a list that goes on.
    pub(crate) has_more: bool,
}

#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on each other")]
pub(crate) struct Facts {
    pub(crate) trace: Vec<String>,
    pub(crate) faults: BTreeMap<&'static str, u32>,
    /// Consecutive tries that brought nothing new.
    pub(crate) tries: u32,
    /// Streams in a row that were accepted, brought nothing, and then ended by themselves or lasted long.
    empties: u32,
    /// How often in a row the stream was gone.
    gone: u32,
    /// Whether the answer leaves nothing to try.
    is_hopeless: bool,
    /// Whether events are taken from the list in this life, as there is no stream.
    pub(crate) asks_list: bool,
    /// Starts in this life.
    starts: u32,
    /// The earliest time of the next request.
    not_before: Millis,
    /// The earliest time of the next subscription.
    no_stream_before: Millis,
    pub(crate) last: Went,
    last_call: Option<Call>,
    /// Whether there was a wait since the last request.
    has_waited: bool,
    /// Whether events were taken from the list because the stream could not bring them.
    pub(crate) was_listed: bool,
    /// Whether a list of the turn's events was read to its end.
    pub(crate) is_list_whole: bool,
    /// Whether the last request for it failed.
    pub(crate) has_list_failed: bool,
    /// Whether this life only finds out whether the turn has begun.
    pub(crate) is_look: bool,
    /// Whether the turn was found when it had ended, so that it was not streamed.
    pub(crate) was_found_ended: bool,
    /// The last status that meant failure, of a start and of anything else.
    pub(crate) start_status: u16,
    pub(crate) last_status: u16,
    pub(crate) requests: u32,
    /// Whether events came without numbers.
    pub(crate) was_unnumbered: bool,
    /// Whether the client has looked for the turn.
    pub(crate) has_looked: bool,
    /// Requests since something new came, after the turn had ended.
    idle_requests: u32,
}

impl Facts {
    pub(crate) fn note(&mut self, now: Millis, what: &str) {
        self.trace.push(format!("{now:>9} {what}"));
    }

    /// Another life begins.
    pub(crate) fn begin(&mut self) {
        self.tries = 0;
        self.empties = 0;
        self.gone = 0;
        self.is_hopeless = false;
        self.starts = 0;
        self.asks_list = false;
        self.not_before = 0;
        self.no_stream_before = 0;
        self.idle_requests = 0;
        self.last = Went::default();
    }

    pub(crate) fn is_exhausted(&self, reconnect: Reconnect) -> bool {
        self.tries >= reconnect.max_attempts
    }

    /// A request is about to be sent.
    pub(crate) fn asks(
        &mut self,
        call: Call,
        now: Millis,
        is_over: bool,
        is_unsure: bool,
        reconnect: Reconnect,
    ) {
        self.requests += 1;
        self.has_looked |= call == Call::ListTurns;
        assert!(!self.is_hopeless, "{call:?} after what does not pass");
        if is_start(call) {
            // Other requests that may have begun the turn.
            let was_refused = matches!(self.start_status, 425 | 429 | 503);
            assert!(self.starts == 0 || was_refused, "the start is sent again");
            self.starts += 1;
        }
        assert!(now >= self.not_before, "{call:?} is sent {} ms too early", self.not_before - now);
        if call == Call::SubscribeTurn {
            assert!(now >= self.no_stream_before, "the stream's `retry` is not heeded");
            assert!(!is_unsure, "a repeat could not be told from an event without a number");
        }
        if call == Call::ListTurnEvents && !is_over {
            let is_due = self.gone > 0 || is_unsure || self.empties > 1 || self.is_exhausted(reconnect);
            let is_begun = self.asks_list || self.was_listed;
            assert!(is_due || is_begun, "the stream was given up too early");
            self.asks_list = true;
        }
    }

    /// The turn was found.
    pub(crate) fn found(&mut self) {
        self.tries = 0;
        self.empties = 0;
    }

    /// A request ended like this.
    pub(crate) fn went(
        &mut self,
        call: Call,
        went: Went,
        now: Millis,
        retry: Millis,
        has_ended: bool,
        reconnect: Reconnect,
    ) {
        // The turn's status is checked at the end; the notice has its reason.
        let is_last_question = call == Call::GetTurn && !self.has_waited && self.last.status != 412;
        self.has_waited = false;
        self.last = went;
        self.last_call = Some(call);
        if call == Call::ListNewestTurns {
            // The start goes on, however that request ended.
            return;
        }
        if is_start(call) {
            self.start_status = went.status;
        } else if went.status > 0 && !is_last_question {
            self.last_status = went.status;
        }
        self.idle_requests = if went.is_progress || !has_ended {
            0
        } else {
            self.idle_requests + u32::from(!went.is_offline && !went.has_more)
        };
        assert!(self.idle_requests < MOST_IDLE, "nothing new comes, and it does not end");
        if went.is_progress {
            self.tries = 0;
            self.empties = 0;
        }
        if call.streams() {
            if !went.is_progress {
                let is_long = went.stood >= LONG;
                if is_long {
                    self.tries = self.tries.min(1);
                }
                self.empties += u32::from(is_long || went.is_clean);
            }
            self.gone = if went.status == 412 { self.gone + 1 } else { 0 };
            self.no_stream_before = now + retry.min(LONGEST_RETRY);
            if self.gone > 0 {
                // The turn is read at once.
                self.no_stream_before = 0;
            }
        }
        // The last try of all, and one whose wait would be too long, is not delayed.
        let is_last = self.is_exhausted(reconnect) || went.retry_after > LONGEST_WAIT;
        self.not_before = if is_last { 0 } else { now + went.retry_after };
        if is_last {
            self.no_stream_before = 0;
        } else if call != Call::ListTurns && call != Call::ListTurnEvents {
            self.is_hopeless = match went.status {
                408 | 425 | 429 => false,
                409 | 412 => is_start(call),
                400..=499 => true,
                501 => !is_start(call),
                _ => false,
            };
        }
        if call == Call::ListTurnEvents {
            self.has_list_failed = went.has_failed;
        }
    }

    /// The driver waits for a server that has answered.
    pub(crate) fn waits(&mut self, waiting: Waiting, is_unsure: bool, reconnect: Reconnect) {
        let delay = whole(waiting.delay);
        assert!((PACE.0..=PACE.1).contains(&delay), "the next look is {delay} ms away");
        assert!(!self.last.has_failed, "a failure is not waited for");
        let answered = match waiting.awaited {
            Awaited::Turn => {
                let is_exhausted = self.is_exhausted(reconnect);
                assert!(self.gone > 1 || is_unsure || is_exhausted, "the stream was given up too early");
                // It is not requested again.
                self.gone = 2;
                Call::GetTurn
            }
            Awaited::Events => Call::ListTurnEvents,
            Awaited::History => panic!("this server knows turns"),
        };
        assert_eq!(self.last_call, Some(answered));
        self.has_waited = true;
        self.tries = 0;
    }

    /// The driver waits before the next try.
    pub(crate) fn retries(&mut self, pause: &Pause, reconnect: Reconnect) {
        let Pause { delay, least, attempt, .. } = pause;
        assert!(whole(*least) <= whole(*delay));
        assert!(*least <= moment(LONGEST_WAIT), "nobody waits for {least} ms");
        self.has_waited = true;
        assert!(!self.is_hopeless, "what does not pass is waited for");
        if self.last_call == Some(Call::ListTurns) && !self.last.has_failed {
            // The turn does not exist yet, and may be in flight. That takes time, however few tries are allowed.
            self.tries += 1;
            assert_eq!((*attempt, whole(*least)), (self.tries, whole(*delay)));
            let longest = f64::from(reconnect.base_delay.min(reconnect.max_delay));
            assert!(2.0 * delay >= longest, "it is looked for at once");
            return;
        }
        assert!(self.last.has_failed, "no connection was lost");
        self.tries += u32::from(!self.last.is_offline);
        assert_eq!(*attempt, self.tries.max(1), "the number of the try");
        assert!(self.tries <= reconnect.max_attempts, "more tries than allowed");
        let longest = u64::from(reconnect.base_delay) << (attempt - 1).min(16);
        let max_delay = u64::from(reconnect.max_delay);
        let longest = if self.last.is_offline { max_delay } else { longest.min(max_delay) };
        assert!(delay - least <= moment(longest), "{} ms instead of at most {longest}", delay - least);
    }
}

fn is_start(call: Call) -> bool {
    matches!(call, Call::CreateTurn | Call::CreateTurnStream)
}
