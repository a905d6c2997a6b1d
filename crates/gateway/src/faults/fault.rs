//! The faults, a closed list: what can go wrong with one response.

use std::time::Duration;

use axum::http::{HeaderValue, StatusCode};
use serde::Deserialize;

use super::trap::{Trap, Traps};

/// One thing that goes wrong with a response.
///
/// On streams there are edits and ends. Edits count the events as they would come without faults,
/// from 1; ends count what is written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fault {
    /// Something else instead of an answer; the request is not processed.
    Instead(Instead),
    /// The request is processed, then answered with this status.
    LateStatus(Refusal),
    /// The request is processed, then the connection is reset without an answer.
    Lost,
    /// The head comes so much later.
    SlowHead(Duration),
    /// The answer's media type.
    Type(HeaderValue),
    /// The body breaks off after so many bytes.
    Half(u64),
    /// The stream's end before its time.
    End(Mark, Ending),
    /// This event is written twice.
    Duplicate(u64),
    /// After this event all from the first one on are written once more.
    Replay(u64),
    /// The cursor is ignored.
    Restart,
    /// This event and the next one are swapped.
    Reorder(u64),
    /// These events are left out.
    Gap(Run),
    /// The events with these sequence numbers are left out, on every later stream of the turn too.
    Hole(Run),
    /// The stream begins with a `retry:` of so many milliseconds.
    Retry(u64),
    /// After this event comes a frame of so many bytes.
    Giant { after: u64, bytes: usize },
    /// How ids are written, from this event on.
    Numbers { kind: Numbers, from: u64 },
    /// After this event another turn begins.
    OtherTurn(u64),
    /// So many deltas follow the last event.
    AfterDone(u64),
    /// The last event comes a second time, with the next number.
    TwoDones,
    /// The stream ends where the last event would come.
    NoDone,
    /// After this frame of a WebSocket comes one that is none of the protocol.
    Malformed { after: u64, kind: Malformed },
    /// Something that the turn itself does, where its protocol knows it.
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
    /// JSON, but no object.
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
    /// After so many events.
    Events(u64),
    /// After so many bytes.
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

/// So many in a row, from the first one on.
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

/// What becomes of ids.
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
