//! One reader of a kept turn: what it gets, in which order, and when its connection ends. How that is written is left to
//! `read` and `durable`.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};

use super::follow::LOST;
use super::hub::{Hub, Known, Reading};
use super::wanted::{Progress, Source, Wanted};
use crate::identity::LONGEST;
use crate::limits::InUse;
use crate::log::{LogError, ReplayLog, TurnKey};
use crate::mutant::mutant;
use crate::observe::Span;
use crate::turn::{CutReason, End, Reader, Step};

/// How many bytes are written at once.
pub(super) const PAGE: usize = 64 << 10;
/// The silence after which a reader gets a comment, so that proxies do not close the connection as idle.
pub(super) const HEARTBEAT: Duration = Duration::from_secs(15);

/// The pause before a log that does not answer is read again.
pub(super) const AGAIN: Duration = Duration::from_millis(200);
/// One write in this many is measured, so that measuring does not delay thousands of readers of one turn.
const MEASURED: u32 = 8;

/// Why a reader's connection ends; counted when it does. If the relay sets no reason, the reader has gone.
struct Closing(&'static str);

impl Drop for Closing {
    fn drop(&mut self) {
        metrics::counter!("turnwire_relay_readers_closed_total", "reason" => self.0).increment(1);
    }
}

/// What comes next for a reader.
pub(super) enum Next {
    /// Frames, the first of which has this number.
    Frames(u64, Vec<Bytes>),
    /// There was nothing new for a while.
    Silence,
    /// It has to reconnect, here or to another relay.
    SentAway,
    /// Its connection ends before the turn does.
    Left,
    /// The turn has ended.
    End(End),
}

/// One reader of a turn.
pub(super) struct Delivery {
    log: Arc<dyn ReplayLog>,
    key: TurnKey,
    hub: Option<Arc<Hub>>,
    known: Known,
    /// The value of `Known::departures` when it connected.
    departures: u64,
    watched: Option<watch::Receiver<Known>>,
    reader: Reader,
    until: Instant,
    closing: Closing,
    /// It has read everything, and waits for more.
    is_waiting: bool,
    /// How often it got what it was waiting for.
    writes: u32,
    _counted: (Option<Reading>, InUse, Span),
}

impl Delivery {
    pub(super) fn new(wanted: Wanted, Progress { known, watched }: Progress) -> Self {
        let lives = wanted.valid_for.map_or(LONGEST, |valid| valid.min(LONGEST));
        let (hub, counted) = match &wanted.source {
            Source::Open(hub) => (Some(hub.clone()), Some(hub.reading())),
            Source::Closed(..) => (None, None),
        };
        Self {
            log: wanted.app.log.clone(),
            key: wanted.key,
            hub,
            departures: known.departures,
            known,
            watched,
            reader: Reader::after(wanted.after),
            until: Instant::now() + lives,
            closing: Closing("gone"),
            is_waiting: false,
            writes: 0,
            _counted: (counted, wanted.reading, wanted.span),
        }
    }

    /// The last frame that was delivered.
    pub(super) fn cursor(&self) -> u64 {
        self.reader.cursor()
    }

    /// The turn's end, if all frames before it were delivered.
    pub(super) fn end(&self) -> Option<End> {
        self.known.end.filter(|_| self.is_caught_up())
    }

    /// Whether all known frames were delivered.
    pub(super) fn is_caught_up(&self) -> bool {
        self.cursor() >= self.known.last
    }

    /// Waits until more is known than was delivered, but not longer than this.
    pub(super) async fn wait(&mut self, patience: Duration) {
        let Some(watched) = &mut self.watched else { return };
        let (cursor, departures) = (self.reader.cursor(), self.departures);
        let is_more =
            |known: &Known| known.last > cursor || known.end.is_some() || known.departures != departures;
        let until = self.until.min(Instant::now() + patience);
        let _ = timeout_at(until, watched.wait_for(is_more)).await;
        self.known = watched.borrow_and_update().clone();
    }

    /// Delivers no more than is known now. Returns the last frame of that, and the end behind it.
    pub(super) fn stop_here(&mut self) -> (u64, Option<End>) {
        self.watched = None;
        self.departures = self.known.departures;
        self.closing.0 = "page";
        (self.known.last, self.known.end)
    }

    pub(super) async fn next(&mut self) -> Next {
        loop {
            if let Some(watched) = &mut self.watched {
                self.known = watched.borrow_and_update().clone();
            }
            if self.known.departures != self.departures {
                self.closing.0 = "sent_away";
                return Next::SentAway;
            }
            match self.reader.next(self.known.last, self.known.end) {
                Step::Read(after) => return self.page(after).await,
                Step::Over => return Next::Left,
                Step::Tell(end) => return self.over(end),
                Step::Wait => {}
            }
            let Some(watched) = &mut self.watched else { return self.leave("unread") };
            self.is_waiting = true;
            tokio::select! {
                changed = timeout(HEARTBEAT, watched.changed()) => match changed {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) => return self.leave("unread"),
                    Err(_) => return Next::Silence,
                },
                () = sleep_until(self.until) => return self.leave("lifetime"),
            }
        }
    }

    fn leave(&mut self, reason: &'static str) -> Next {
        self.closing.0 = reason;
        Next::Left
    }

    /// Its connection ends with the turn.
    pub(super) fn over(&mut self, end: End) -> Next {
        self.closing.0 = match end {
            End::Done | End::Eof | End::Refused { .. } => "end",
            End::Cut { .. } | End::Stopped => "cut",
        };
        Next::End(end)
    }

    /// The frames after an offset, or the turn's end if the log has lost it for good. While the log is unavailable, or its
    /// owner may restore the turn, all readers of a page share one pause.
    async fn frames(&self, after: u64) -> Result<Vec<Bytes>, End> {
        let read = async {
            loop {
                let read = self.log.read(self.key.clone(), after, PAGE);
                let read = match &self.hub {
                    Some(hub) => hub.page(after, PAGE, read).await,
                    None => read.await,
                };
                match read {
                    Ok(frames) => return Ok(frames),
                    Err(LogError::Unreachable(_)) => {}
                    Err(LogError::Gone) => {
                        if let Some(end) = self.lost().await {
                            return Err(end);
                        }
                    }
                    Err(_) => return Ok(Vec::new()),
                }
                sleep(AGAIN).await;
            }
        };
        timeout(HEARTBEAT, read).await.unwrap_or_else(|_| Ok(Vec::new()))
    }

    /// The end of a turn that is no longer in the log, if it cannot return.
    async fn lost(&self) -> Option<End> {
        let end = self.watched.as_ref().and_then(|watched| watched.borrow().end);
        if matches!(end, Some(End::Cut { reason: CutReason::LogLost, .. })) {
            return end;
        }
        (self.log.is_removed(self.key.clone()).await == Ok(true)).then_some(LOST)
    }

    #[expect(clippy::cast_precision_loss, reason = "counts far below what a float holds")]
    fn measure(&mut self, count: u64) {
        metrics::counter!("turnwire_relay_frames_delivered_total").increment(count);
        let is_awaited = std::mem::take(&mut self.is_waiting);
        let is_measured = is_awaited && self.writes.is_multiple_of(MEASURED);
        self.writes = self.writes.wrapping_add(u32::from(is_awaited));
        if !is_measured {
            return;
        }
        // Frames that a reader catches up on are not measured: their age says nothing about the relay.
        let behind = self.known.last.saturating_sub(self.reader.cursor());
        metrics::histogram!("turnwire_relay_reader_lag_frames").record(behind as f64);
        let age = self.hub.as_ref().filter(|_| behind == 0).and_then(|hub| hub.age(self.known.last));
        if let Some(age) = age {
            metrics::histogram!("turnwire_relay_delivery_seconds").record(age.as_secs_f64());
        }
    }

    async fn page(&mut self, after: u64) -> Next {
        let after = if mutant!("to_the_tail") && self.hub.is_some() {
            self.reader = Reader::after(self.known.last - 1);
            self.known.last - 1
        } else {
            after
        };
        let mut frames = match self.frames(after).await {
            Ok(frames) => frames,
            Err(end) => return self.over(end),
        };
        // The hub may have more by now than this reader is to get.
        if self.watched.is_none() {
            frames.truncate(usize::try_from(self.known.last - after).unwrap_or(usize::MAX));
        }
        // It has expired meanwhile, or the log does not answer.
        if frames.is_empty() || self.reader.wrote(after + 1, frames.len() as u64).is_err() {
            return self.leave("unread");
        }
        self.measure(frames.len() as u64);
        Next::Frames(after + 1, frames)
    }
}
