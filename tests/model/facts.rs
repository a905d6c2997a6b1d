//! What has happened in a case, seen from outside of the driver. Its requests and waits are checked against these facts,
//! and a failure prints them.

use std::collections::BTreeMap;

use turnwire::protocol::Call;
use turnwire::turn::{Awaited, Pause, Reconnect, Waiting};

use super::time::{Millis, moment, whole};

/// The longest wait that a server may ask for.
const LONGEST_WAIT: Millis = 300_000;
/// The longest wait that a stream can ask for.
const LONGEST_RETRY: Millis = 30_000;
/// The shortest and the longest wait between two requests for a running turn.
const PACE: (Millis, Millis) = (500, 2000);
/// A connection that lasted this long does not count as failed.
const LONG: Millis = 30_000;
/// Requests in a row that bring nothing new: ten tries, whose count long connections reset a few times.
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
    /// Whether it is a page of a list, and not the last one.
    pub(crate) has_more: bool,
}

/// What has happened in a case.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) record: Record,
    run: Run,
    last_call: Option<Call>,
    pub(crate) last: Went,
    /// Whether there was a wait since the last request.
    has_waited: bool,
    pub(crate) search: Search,
    pub(crate) list: List,
    /// Whether events came without numbers.
    pub(crate) was_unnumbered: bool,
    /// The last status of a start that meant failure.
    pub(crate) start_status: u16,
    /// The last status of any other request that meant failure.
    pub(crate) last_status: u16,
}

/// What is printed about a case.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) trace: Vec<String>,
    pub(crate) faults: BTreeMap<&'static str, u32>,
    pub(crate) requests: u32,
}

/// What has happened since the driver took its first step in this life.
#[derive(Debug, Default)]
struct Run {
    /// Tries in a row that brought nothing new.
    tries: u32,
    /// Streams in a row that were accepted, brought nothing, and then ended by themselves or lasted long.
    empties: u32,
    /// How often in a row the stream was gone.
    gone: u32,
    /// Whether the last response rules out every further try.
    is_hopeless: bool,
    asks_list: bool,
    starts: u32,
    /// The earliest time of the next request.
    not_before: Millis,
    /// The earliest time of the next subscription.
    no_stream_before: Millis,
    /// Requests since something new came, after the turn had ended.
    idle_requests: u32,
}

/// Whether it is known that the turn has begun.
#[derive(Debug, Default)]
pub(crate) struct Search {
    /// Whether the turn was looked for.
    pub(crate) has_looked: bool,
    /// Whether this life is only to find out whether the turn has begun.
    pub(crate) is_only_look: bool,
    /// Whether the turn was found when it had ended, so that it was not streamed.
    pub(crate) was_found_ended: bool,
}

/// The list of the turn's events.
#[derive(Debug, Default)]
pub(crate) struct List {
    /// Whether events were taken from it because the stream could not bring them.
    pub(crate) was_used: bool,
    /// Whether it was read to its end.
    pub(crate) was_read_whole: bool,
    /// Whether the last request for it failed.
    pub(crate) has_failed: bool,
}

impl Facts {
    pub(crate) fn note(&mut self, now: Millis, what: &str) {
        self.record.trace.push(format!("{now:>9} {what}"));
    }

    /// Another life begins.
    pub(crate) fn begin(&mut self) {
        self.run = Run::default();
        self.last = Went::default();
    }

    /// Whether events are taken from the list in this life, as there is no stream.
    pub(crate) fn asks_list(&self) -> bool {
        self.run.asks_list
    }

    pub(crate) fn is_exhausted(&self, reconnect: Reconnect) -> bool {
        self.run.tries >= reconnect.max_attempts
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
        self.record.requests += 1;
        self.search.has_looked |= call == Call::ListTurns;
        assert!(!self.run.is_hopeless, "{call:?} is sent, but no retry can help");
        if is_start(call) {
            // These statuses refuse the start, even if something else has begun the turn.
            let was_refused = matches!(self.start_status, 425 | 429 | 503);
            assert!(self.run.starts == 0 || was_refused, "the start is sent again");
            self.run.starts += 1;
        }
        assert!(now >= self.run.not_before, "{call:?} is sent {} ms too early", self.run.not_before - now);
        if call == Call::SubscribeTurn {
            assert!(now >= self.run.no_stream_before, "the stream's `retry` is not heeded");
            assert!(!is_unsure, "a repeat could not be told from an event without a number");
        }
        if call == Call::ListTurnEvents && !is_over {
            let is_due =
                self.run.gone > 0 || is_unsure || self.run.empties > 1 || self.is_exhausted(reconnect);
            let is_begun = self.run.asks_list || self.list.was_used;
            assert!(is_due || is_begun, "the stream was given up too early");
            self.run.asks_list = true;
        }
    }

    /// The turn was found.
    pub(crate) fn found(&mut self) {
        self.run.tries = 0;
        self.run.empties = 0;
    }

    /// A request has ended like this.
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
            // The start continues in any case.
            return;
        }
        if is_start(call) {
            self.start_status = went.status;
        } else if went.status > 0 && !is_last_question {
            self.last_status = went.status;
        }
        self.run.idle_requests = if went.is_progress || !has_ended {
            0
        } else {
            self.run.idle_requests + u32::from(!went.is_offline && !went.has_more)
        };
        assert!(self.run.idle_requests < MOST_IDLE, "nothing new comes, and it does not end");
        if went.is_progress {
            self.run.tries = 0;
            self.run.empties = 0;
        }
        if call.streams() {
            if !went.is_progress {
                let is_long = went.stood >= LONG;
                if is_long {
                    self.run.tries = self.run.tries.min(1);
                }
                self.run.empties += u32::from(is_long || went.is_clean);
            }
            self.run.gone = if went.status == 412 { self.run.gone + 1 } else { 0 };
            self.run.no_stream_before = now + retry.min(LONGEST_RETRY);
            if self.run.gone > 0 {
                // The turn is requested at once.
                self.run.no_stream_before = 0;
            }
        }
        // After the last try, and if the wait would be too long, nothing is delayed.
        let is_last = self.is_exhausted(reconnect) || went.retry_after > LONGEST_WAIT;
        self.run.not_before = if is_last { 0 } else { now + went.retry_after };
        if is_last {
            self.run.no_stream_before = 0;
        } else if call != Call::ListTurns && call != Call::ListTurnEvents {
            self.run.is_hopeless = match went.status {
                408 | 425 | 429 => false,
                409 | 412 => is_start(call),
                400..=499 => true,
                501 => !is_start(call),
                _ => false,
            };
        }
        if call == Call::ListTurnEvents {
            self.list.has_failed = went.has_failed;
        }
    }

    /// The driver waits, as the server has nothing new.
    pub(crate) fn waits(&mut self, waiting: Waiting, is_unsure: bool, reconnect: Reconnect) {
        let delay = whole(waiting.delay);
        assert!((PACE.0..=PACE.1).contains(&delay), "the next look is {delay} ms away");
        assert!(!self.last.has_failed, "it waits after a failure");
        let answered = match waiting.awaited {
            Awaited::Turn => {
                let is_exhausted = self.is_exhausted(reconnect);
                assert!(self.run.gone > 1 || is_unsure || is_exhausted, "the stream was given up too early");
                // The stream is not requested again.
                self.run.gone = 2;
                Call::GetTurn
            }
            Awaited::Events => Call::ListTurnEvents,
            Awaited::History => panic!("this server knows turns"),
        };
        assert_eq!(self.last_call, Some(answered));
        self.has_waited = true;
        self.run.tries = 0;
    }

    /// The driver waits before the next try.
    pub(crate) fn retries(&mut self, pause: &Pause, reconnect: Reconnect) {
        let Pause { delay, least, attempt, .. } = pause;
        assert!(whole(*least) <= whole(*delay));
        assert!(*least <= moment(LONGEST_WAIT), "a wait of at least {least} ms is too long");
        self.has_waited = true;
        assert!(!self.run.is_hopeless, "it waits, but no retry can help");
        if self.last_call == Some(Call::ListTurns) && !self.last.has_failed {
            // The turn does not exist yet, and may be in flight. That takes time, however few tries are allowed.
            self.run.tries += 1;
            assert_eq!((*attempt, whole(*least)), (self.run.tries, whole(*delay)));
            let longest = f64::from(reconnect.base_delay.min(reconnect.max_delay));
            assert!(2.0 * delay >= longest, "it is looked for at once");
            return;
        }
        assert!(self.last.has_failed, "no connection was lost");
        self.run.tries += u32::from(!self.last.is_offline);
        assert_eq!(*attempt, self.run.tries.max(1), "the number of the try");
        assert!(self.run.tries <= reconnect.max_attempts, "more tries than allowed");
        let longest = u64::from(reconnect.base_delay) << (attempt - 1).min(16);
        let max_delay = u64::from(reconnect.max_delay);
        let longest = if self.last.is_offline { max_delay } else { longest.min(max_delay) };
        assert!(delay - least <= moment(longest), "{} ms instead of at most {longest}", delay - least);
    }
}

fn is_start(call: Call) -> bool {
    matches!(call, Call::CreateTurn | Call::CreateTurnStream)
}
