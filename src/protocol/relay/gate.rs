//! The stream that a relay keeps: frames of the server behind it, numbered from 1 on, and the relay's own frames among them.
//!
//! The gate stands before the decoder, which must see each frame of the turn once and in order, over all connections.

use crate::error::{Error, ErrorCode};
use crate::features::Relays;
use crate::json::{Object, ObjectWriter, Value, write_u64};

/// Names the log, at the head of a stream. The transport makes it of the header `turnwire-log`.
pub(crate) const LOG: &str = "turnwire.log";
/// Says that the rest of the turn is missing, and why.
const CUT: &str = "turnwire.cut";

/// What is done with a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Passage {
    /// It is the server's next one.
    Passes,
    /// It is the relay's own, or came before.
    Stays,
    /// The user has stopped the turn.
    Stopped,
    /// Nothing more of this connection is taken.
    Closed(Error),
}

/// What is known of a turn's stream.
#[derive(Debug)]
pub(crate) struct Gate {
    _by: Relays,
    /// The id of the relay's log; empty until it is known.
    log: String,
    /// The number of the last frame in this log.
    at: usize,
    /// A fingerprint of each frame that has passed: another log must begin with the same frames.
    passed: Vec<u32>,
}

impl Gate {
    pub(crate) fn new(by: Relays) -> Self {
        Self { _by: by, log: String::new(), at: 0, passed: Vec::new() }
    }

    /// Whether no frame has passed.
    pub(crate) fn is_new(&self) -> bool {
        self.passed.is_empty()
    }

    /// Writes where the next stream begins.
    pub(crate) fn write(&self, params: &mut ObjectWriter<'_>) {
        params.u64("last_frame", self.at as u64);
        if !self.log.is_empty() {
            params.str("log", &self.log);
        }
    }

    /// The relay does not have this place any more. Returns whether it may have another log of the turn, which is then
    /// read from its beginning.
    pub(crate) fn start_over(&mut self) -> bool {
        let was_named = !self.log.is_empty() || self.at > 0;
        self.log.clear();
        self.at = 0;
        was_named
    }

    /// Takes a frame with this name and this own id, if it has one.
    pub(crate) fn take(&mut self, event: &str, id: Option<&str>, data: &str) -> Passage {
        let Some(id) = id else { return self.own(event, data) };
        let number = id.parse().unwrap_or_default();
        if number <= self.at {
            return Passage::Stays;
        }
        if number > self.at + 1 {
            let mut missing = String::new();
            write_u64(&mut missing, self.at as u64 + 1);
            return Passage::Closed(Error::of(
                ErrorCode::Incomplete,
                &["frame ", &missing, " of the relay's log is missing"],
            ));
        }
        self.at = number;
        let print = fingerprint(fingerprint(0, event.as_bytes()), data.as_bytes());
        match self.passed.get(number - 1) {
            Some(known) if *known == print => Passage::Stays,
            Some(_) => Passage::Closed(cut(r#"{"reason":"log_changed","upstream":"unknown"}"#)),
            None => {
                self.passed.push(print);
                Passage::Passes
            }
        }
    }

    /// Takes a frame without an id: the relay's own.
    fn own(&mut self, event: &str, data: &str) -> Passage {
        match event {
            LOG => {
                data.clone_into(&mut self.log);
                Passage::Stays
            }
            CUT => {
                let said = Value::parse(data).unwrap_or_default();
                let reason = said.as_object().unwrap_or(const { &Object::new() }).text("reason");
                // A turn that has sent nothing may not have begun.
                if reason == "stopped" && !self.is_new() {
                    Passage::Stopped
                } else {
                    Passage::Closed(cut(data))
                }
            }
            _ => {
                let problem = "a frame has no number: the server is no relay";
                Passage::Closed(Error::new(ErrorCode::UnexpectedResponse, problem))
            }
        }
    }
}

/// The rest of the turn is missing. `said` is what the relay says of it (JSON).
fn cut(said: &str) -> Error {
    let json = Value::parse(said).unwrap_or_default();
    let reason = json.as_object().unwrap_or(const { &Object::new() }).text("reason");
    let parts = ["the relay does not have the rest of the turn (`", reason, "`)"];
    Error::of(ErrorCode::Cut, &parts).with_body(said)
}

/// Multiplies eight bytes at a time: a piece of text costs as much as its shortest check.
fn fingerprint(seed: u32, bytes: &[u8]) -> u32 {
    const PRIME: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = (u64::from(seed) ^ bytes.len() as u64).wrapping_mul(PRIME);
    let mut rest = bytes;
    while let Some((eight, tail)) = rest.split_first_chunk::<8>() {
        hash = (hash ^ u64::from_le_bytes(*eight)).wrapping_mul(PRIME).rotate_left(29);
        rest = tail;
    }
    for byte in rest {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(PRIME).rotate_left(29);
    }
    #[expect(clippy::cast_possible_truncation, reason = "a fingerprint has four bytes")]
    let print = (hash ^ (hash >> 32)) as u32;
    print
}
