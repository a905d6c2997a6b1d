//! The stream that a relay keeps: frames of the server behind it, numbered from 1 on, and the relay's own frames among them.
//!
//! The gate stands before the decoder, which must see each frame of the turn once and in order, over all connections.

use crate::error::{Error, ErrorCode};
use crate::features::Relays;
use crate::json::{Value, write_u64};

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

    /// Where the next stream begins, as the query of its request.
    pub(crate) fn place(&self) -> String {
        let mut place = "after=".to_owned();
        write_u64(&mut place, self.at as u64);
        if !self.log.is_empty() {
            place.push_str("&log=");
            place.push_str(&self.log);
        }
        place
    }

    /// The relay does not have this place any more. Returns whether it may have another log of the turn, which is then
    /// read from its beginning.
    pub(crate) fn start_over(&mut self) -> bool {
        let was_named = !self.log.is_empty() || self.at > 0;
        self.log.clear();
        self.at = 0;
        was_named
    }

    /// Whether this is the number of the server's next frame.
    pub(crate) fn awaits(&self, id: &[u8]) -> bool {
        self.at == self.passed.len() && number(id) == self.at + 1
    }

    /// Takes the frame that comes next.
    pub(crate) fn pass(&mut self, event: &[u8], data: &[u8]) {
        self.at += 1;
        self.passed.push(fingerprint(event, data));
    }

    /// Takes a frame with this name and this own id, if it has one.
    pub(crate) fn take(&mut self, event: &str, id: Option<&str>, data: &str) -> Passage {
        let Some(id) = id else { return self.own(event, data) };
        let number = number(id.as_bytes());
        if number <= self.at {
            return Passage::Stays;
        }
        if number > self.at + 1 {
            let problem = "a frame of the relay's log is missing";
            return Passage::Closed(Error::new(ErrorCode::Incomplete, problem));
        }
        let Some(known) = self.passed.get(self.at) else {
            self.pass(event.as_bytes(), data.as_bytes());
            return Passage::Passes;
        };
        self.at = number;
        if *known == fingerprint(event.as_bytes(), data.as_bytes()) {
            return Passage::Stays;
        }
        Passage::Closed(cut("log_changed", r#"{"reason":"log_changed","upstream":"unknown"}"#))
    }

    /// Takes a frame without an id: the relay's own.
    fn own(&mut self, event: &str, data: &str) -> Passage {
        match event {
            LOG => {
                // Relays name logs by digits. No other text gets into an address.
                let is_name = data.bytes().all(|byte| byte.is_ascii_alphanumeric());
                if is_name { data } else { "" }.clone_into(&mut self.log);
                Passage::Stays
            }
            CUT => {
                let said = Value::parse(data).unwrap_or_default();
                let reason = said.as_object().map_or("", |said| said.text("reason"));
                // A turn that has sent nothing may not have begun.
                if reason == "stopped" && !self.is_new() {
                    return Passage::Stopped;
                }
                Passage::Closed(cut(reason, data))
            }
            _ => {
                let problem = "a frame has no number: the server is no relay";
                Passage::Closed(Error::new(ErrorCode::UnexpectedResponse, problem))
            }
        }
    }
}

/// The number of a frame; 0 if this is none, or one that no relay counts to.
fn number(id: &[u8]) -> usize {
    let mut number = 0;
    for byte in id {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 || id.len() > 9 {
            return 0;
        }
        number = number * 10 + usize::from(digit);
    }
    number
}

/// The rest of the turn is missing for this reason. `said` is what the relay says of it (JSON).
fn cut(reason: &str, said: &str) -> Error {
    let parts = ["the relay does not have the rest of the turn (`", reason, "`)"];
    Error::of(ErrorCode::Cut, &parts).with_body(said)
}

/// A fingerprint of a frame: FNV-1a.
fn fingerprint(event: &[u8], data: &[u8]) -> u32 {
    let bytes = event.iter().chain(b"\n").chain(data);
    bytes.fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}
