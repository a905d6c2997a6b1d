//! The laws, checked over a history.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use turnwire_relay::turn::{CutReason, End};

use crate::history::{Acknowledged, Heard, Kept, Tab, Turn};

/// How long after the last fault every reader must have received the end.
const HEARD_IN: Duration = Duration::from_secs(15);
/// How many bytes of a turn its owner has in memory.
const IN_MEMORY: usize = 256 << 10;

/// What must hold, whichever faults occur.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Law {
    /// Readers agree byte for byte with the log and with each other.
    Agreement,
    /// A reader's frames begin after its cursor, and have no gap.
    Chain,
    /// The log is a prefix of what the agent sent.
    Prefix,
    /// A turn ends once, and in one way.
    OneEnd,
    /// What was seen stays available, unless the log has a new id.
    Kept,
    /// The agent gets each turn at most once.
    Once,
    /// Every reader receives the end.
    Heard,
    /// `done` means that the agent has finished, and that all its frames are there.
    Done,
    /// A start that the relay reports as unsent was not sent.
    Unsent,
    /// What the log has acknowledged is in it, unless it has lost that and has a new id.
    Acknowledged,
    /// No append of an old owner is acknowledged after one of a newer owner.
    Epochs,
    /// A turn that its agent keeps, and of which anything was kept here, is complete, unless a user stopped it or there
    /// was no room.
    Whole,
}

/// A law that did not hold.
#[derive(Debug)]
pub(crate) struct Violation {
    pub(crate) law: Law,
    text: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.law, self.text)
    }
}

/// What the log has lost of what it had acknowledged.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Loss {
    /// How often it has lost anything.
    pub(crate) times: usize,
    /// Whether an owner has ended as well, or could not reach the log: nobody repairs its turns then.
    pub(crate) is_of_owners: bool,
    /// Whether the log was restarted: no relay can know that it has kept everything, so it may get a new id.
    pub(crate) is_doubted: bool,
}

impl Loss {
    /// Whether frames of a turn may be lost for good, or all of it. A living owner repairs the turn from its memory. It
    /// does not if the start was repeated before it had noticed: the turn then has another owner.
    fn is_final(self, turn: &Turn) -> bool {
        let size: usize = turn.sent.iter().map(String::len).sum();
        self.times > 0 && (self.is_of_owners || turn.starts.len() > 1 || size > IN_MEMORY)
    }
}

/// Checks all turns. No fault occurred after `quiet`.
pub(crate) fn judge(turns: &BTreeMap<String, Turn>, quiet: Instant, loss: Loss) -> Vec<Violation> {
    let mut judge = Judge { turn: "", loss, is_final: false, violations: Vec::new() };
    for (name, turn) in turns {
        judge.turn = name;
        judge.is_final = loss.is_final(turn);
        judge.agent(turn);
        judge.log(turn);
        judge.readers(turn);
        judge.acknowledged(turn);
        judge.epochs(turn);
        judge.ends(turn);
        for tab in &turn.tabs {
            judge.tab(turn, tab, quiet);
        }
    }
    judge.violations
}

struct Judge<'a> {
    turn: &'a str,
    loss: Loss,
    /// Whether the log may have lost some of this turn for good. Readers may see that, and get a new log or an end, but
    /// never a false frame, and never none of them.
    is_final: bool,
    violations: Vec<Violation>,
}

impl Judge<'_> {
    fn hold(&mut self, law: Law, holds: bool, text: impl FnOnce() -> String) {
        if !holds {
            self.violations.push(Violation { law, text: format!("{}: {}", self.turn, text()) });
        }
    }

    fn agent(&mut self, turn: &Turn) {
        let count = turn.starts.len();
        // Where the whole turn was lost, its start may be sent again, once.
        let most = 1 + self.loss.times;
        self.hold(Law::Once, count <= most, || format!("the agent got it {count} times"));
        // If only the first tab starts it, it is known whose start the agent received.
        if let Some(tab) = turn.tabs.first().filter(|_| !turn.is_shared) {
            let early = tab.refusals.last().filter(|last| turn.starts.iter().any(|start| *start < last.at));
            self.hold(Law::Unsent, early.is_none(), || {
                let code = early.map_or("", |last| &last.code);
                format!("it was sent, and the relay said that it was not: {code}")
            });
        }
    }

    fn log(&mut self, turn: &Turn) {
        let Some(Kept { head, frames }) = &turn.kept else { return };
        let (sent, kept) = (turn.sent.len(), frames.len());
        let differs = frames.iter().zip(&turn.sent).position(|(kept, sent)| kept != sent);
        self.hold(Law::Prefix, differs.is_none() && kept <= sent, || {
            let at = differs.unwrap_or(sent);
            format!(
                "the log has {kept} frames, the agent sent {sent}; frame {} is {:?} and not {:?}",
                at + 1,
                frames.get(at).map(|frame| shortened(frame)),
                turn.sent.get(at).map(|frame| shortened(frame)),
            )
        });
        self.hold(Law::Chain, head.last == kept as u64, || {
            format!("the log says that it ends with {}, and has {kept} frames", head.last)
        });
        self.hold(Law::Heard, head.end.is_some(), || "the log has no end of it".to_owned());
        if self.turn.starts_with("TrueFoundry") && kept > 0 {
            let is_whole = match head.end {
                Some(End::Cut { reason, .. }) => reason == CutReason::LogFull,
                end => matches!(end, Some(End::Done | End::Stopped)),
            };
            self.hold(Law::Whole, is_whole, || {
                format!("of {sent} frames the log has {kept}, and then {:?}", head.end)
            });
        }
        if head.end == Some(End::Done) {
            self.hold(Law::Done, turn.is_done && kept == sent, || {
                format!("the log says done with {kept} frames; the agent sent {sent}, done: {}", turn.is_done)
            });
        }
    }

    /// One text for each number of each log.
    fn readers(&mut self, turn: &Turn) {
        let mut known: BTreeMap<(&str, u64), &str> = BTreeMap::new();
        let log = turn.kept.as_ref().map(|kept| format!("{:016x}", kept.head.log));
        for (offset, frame) in (1..).zip(turn.kept.iter().flat_map(|kept| &kept.frames)) {
            known.insert((log.as_deref().unwrap_or_default(), offset), frame);
        }
        for connection in turn.tabs.iter().flat_map(|tab| &tab.connections) {
            for (offset, frame) in &connection.frames {
                let first = *known.entry((&connection.log, *offset)).or_insert(frame);
                self.hold(Law::Agreement, first == frame, || {
                    format!("frame {offset} is {:?} and {:?}", shortened(first), shortened(frame))
                });
            }
            let seen = connection.frames.last().map_or(connection.after, |(offset, _)| *offset);
            let is_same = log.as_ref() == Some(&connection.log);
            let last = turn.kept.as_ref().map_or(0, |kept| kept.frames.len() as u64);
            if seen == 0 || self.is_final {
                continue;
            }
            self.hold(Law::Kept, turn.kept.is_some() && (!is_same || seen <= last), || {
                format!("a reader has seen {seen} frames, and the log has {last}")
            });
            self.hold(Law::Kept, is_same || self.loss.is_doubted, || {
                "the log has a new id for no reason".to_owned()
            });
        }
    }

    /// With or without readers, what was acknowledged is in the log.
    fn acknowledged(&mut self, turn: &Turn) {
        if self.is_final {
            return;
        }
        for one in &turn.acknowledged {
            let holds = turn.kept.as_ref().is_some_and(|Kept { head, frames }| {
                let is_there = one.next() <= frames.len() as u64 + 1;
                let has_end = one.end.is_none() || one.end == head.end;
                if one.log == head.log { is_there && has_end } else { self.loss.is_doubted }
            });
            self.hold(Law::Acknowledged, holds, || {
                let kept = turn.kept.as_ref().map(|kept| (kept.head.log, kept.frames.len(), kept.head.end));
                format!("acknowledged was {one:?}, and the log has {kept:?}")
            });
        }
    }

    /// The relays compare no clocks, so only offsets show what was appended after what: those of a newer owner follow all
    /// of an older one, and an older one has not appended the end.
    fn epochs(&mut self, turn: &Turn) {
        if self.is_final {
            return;
        }
        for newer in &turn.acknowledged {
            let is_old = |old: &&Acknowledged| old.log == newer.log && old.epoch < newer.epoch;
            let is_late = |old: &&Acknowledged| old.next() > newer.first || old.end.is_some();
            let late = turn.acknowledged.iter().filter(is_old).find(is_late);
            self.hold(Law::Epochs, late.is_none(), || format!("{late:?} was acknowledged after {newer:?}"));
        }
    }

    fn ends(&mut self, turn: &Turn) {
        let Some(Kept { head, .. }) = &turn.kept else { return };
        let Some(end) = head.end else { return };
        let log = format!("{:016x}", head.log);
        for tab in &turn.tabs {
            let Some((_, heard)) = &tab.heard else { continue };
            let is_another = tab.connections.last().is_none_or(|connection| connection.log != log);
            let is_lost = *heard == Heard::Gone
                || matches!(heard, Heard::Cut { reason, .. } if reason == "log_lost")
                || is_another;
            if self.is_final && is_lost {
                continue;
            }
            let agrees = match heard {
                Heard::Done => end == End::Done,
                Heard::Cut { reason, .. } if reason == "stopped" => end == End::Stopped,
                // When the log fails, readers learn that; the log has a later reason for the same end.
                Heard::Cut { reason, .. } => match end {
                    End::Cut { reason: kept, .. } => {
                        kept.name() == reason || matches!(reason.as_str(), "log_lost" | "log_full")
                    }
                    _ => false,
                },
                Heard::Listed(name) => end.name() == name,
                Heard::Whole => matches!(end, End::Done | End::Refused { .. }),
                Heard::Unanswered => matches!(end, End::Cut { .. } | End::Stopped),
                Heard::Unknown | Heard::Gone => false,
            };
            self.hold(Law::OneEnd, agrees, || format!("a reader heard {heard:?}, the log says {end:?}"));
        }
    }

    fn tab(&mut self, turn: &Turn, tab: &Tab, quiet: Instant) {
        for Connected { after, offsets } in tab.connections.iter().map(Connected::of) {
            let is_dense = offsets.iter().zip(after + 1..).all(|(offset, wanted)| *offset == wanted);
            self.hold(Law::Chain, is_dense, || format!("after {after} came {offsets:?}"));
        }
        for surprise in &tab.surprises {
            self.hold(Law::Kept, false, || surprise.clone());
        }
        let is_gone = matches!(tab.heard, Some((_, Heard::Gone)));
        self.hold(Law::Kept, !is_gone || self.is_final, || {
            "a reader was told that there is no such turn".to_owned()
        });
        // Some tabs connect only after the last fault.
        let quiet = tab.came.map_or(quiet, |came| came.max(quiet));
        let late = tab.heard.as_ref().map(|(at, _)| at.saturating_duration_since(quiet));
        self.hold(Law::Heard, late.is_some_and(|late| late <= HEARD_IN), || match late {
            Some(late) => format!("a reader heard of the end {late:?} after the last fault"),
            None => {
                format!("a reader never heard of the end: {:?}", tab.connections.last().map(Connected::of))
            }
        });
        if let Some((_, heard @ Heard::Done)) = &tab.heard {
            self.hold(Law::Done, turn.is_done, || {
                format!("a reader heard {heard:?}, and the agent did not say so")
            });
        }
        if let Some((_, Heard::Cut { last, .. })) = &tab.heard {
            let had = tab.connections.last().map_or(0, |connection| {
                connection.frames.last().map_or(connection.after, |(offset, _)| *offset)
            });
            self.hold(Law::Chain, *last == had, || {
                format!("a cut after {last} was told to a reader at {had}")
            });
        }
    }
}

/// The numbers of a connection, without the texts.
#[derive(Debug)]
struct Connected {
    after: u64,
    offsets: Vec<u64>,
}

impl Connected {
    fn of(connection: &crate::history::Connection) -> Self {
        Self {
            after: connection.after,
            offsets: connection.frames.iter().map(|(offset, _)| *offset).collect(),
        }
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(120).collect()
}
