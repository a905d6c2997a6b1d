//! The faults, a closed list: what can go wrong with one response.

use std::time::Duration;

use axum::http::{HeaderValue, StatusCode};
use serde::Deserialize;

use super::trap::{Trap, Traps};

/// One thing that goes wrong with a response.
///
/// Faults of streams are edits and ends. Edits count the events as they would be without faults, from 1; ends count
/// what is written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fault {
    /// A different response; the request is not processed.
    Instead(Instead),
    /// The request is processed, then gets this status.
    LateStatus(Refusal),
    /// The request is processed, then the connection is reset without a response.
    Lost,
    /// The head is delayed by this time.
    SlowHead(Duration),
    /// The answer's media type.
    Type(HeaderValue),
    /// The body breaks off after this many bytes.
    Half(u64),
    /// The stream ends early.
    End(Mark, Ending),
    /// This event is written twice.
    Duplicate(u64),
    /// After this event, all events from the first one on are repeated.
    Replay(u64),
    /// The cursor is ignored.
    Restart,
    /// This event and the next one are swapped.
    Reorder(u64),
    /// These events are left out.
    Gap(Run),
    /// The events with these sequence numbers are left out, on every later stream of the turn too.
    Hole(Run),
    /// The stream begins with a `retry:` of this many milliseconds.
    Retry(u64),
    /// A frame of this many bytes follows this event.
    Giant { after: u64, bytes: usize },
    /// How ids are written, from this event on.
    Numbers { kind: Numbers, from: u64 },
    /// After this event another turn begins.
    OtherTurn(u64),
    /// This many deltas follow the last event.
    AfterDone(u64),
    /// The last event is repeated, with the next number.
    TwoDones,
    /// The stream ends in place of the last event.
    NoDone,
    /// A frame that is not part of the protocol follows this frame of a WebSocket.
    Malformed { after: u64, kind: Malformed },
    /// A behaviour of the turn itself, if its protocol has it.
    Trap(Trap),
}

/// The traps among faults.
pub(crate) fn traps<'a>(faults: impl IntoIterator<Item = &'a Fault>) -> Traps {
    let traps = faults.into_iter().filter_map(|fault| match fault {
        Fault::Trap(trap) => Some(*trap),
        _ => None,
    });
    traps.collect()
}

/// What is wrong with a frame of a WebSocket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Malformed {
    /// Half a JSON text.
    Json,
    /// JSON, but not an object.
    Number,
    /// Several messages at once.
    Batch,
    /// A message without the version.
    NoVersion,
    /// A notification without parameters.
    NoParams,
    /// Bytes in place of text.
    Binary,
    /// No text at all.
    Empty,
}

/// What replaces an answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Instead {
    /// A status with the error envelope.
    Status(Refusal),
    /// A status with plain text.
    TextStatus(StatusCode),
    /// Nothing: the connection is closed.
    Nothing,
    /// The page of a captive portal.
    Portal,
    /// A redirect to the same address, without faults.
    Redirect,
    /// A redirect to the page of a captive portal.
    RedirectPortal,
}

/// A status, and the seconds of `Retry-After`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) retry_after: Option<u64>,
}

/// A place in the written stream.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Mark {
    /// After this many events.
    Events(u64),
    /// After this many bytes.
    Bytes(u64),
    /// Inside this multi-byte character, counted from 1.
    Character(u64),
}

/// How a stream ends, or continues without events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// As if it were complete.
    Eof,
    /// The connection is reset.
    Reset,
    /// Silence, until the client leaves.
    Stall,
    /// Comments only, until the client leaves.
    Comments,
}

/// This many in a row, from the first one on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Run {
    pub(crate) first: u64,
    pub(crate) count: u64,
}

impl Run {
    pub(crate) fn contains(self, number: u64) -> bool {
        number >= self.first && number - self.first < self.count
    }
}

/// How ids are changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Numbers {
    /// 9, 8, 7… for a stream that begins with 1; it stops at 0.
    Backwards,
    /// 2^60 more.
    Huge,
    /// Below zero.
    Negative,
    /// Not numbers.
    Words,
    /// No id at all.
    None,
}
