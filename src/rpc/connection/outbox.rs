//! What goes out: the ids of requests, and how much a socket may be given.

use std::collections::VecDeque;

use crate::error::{Error, ErrorCode, Result};

use super::{Output, network};
use crate::rpc::ID_PREFIX_LENGTH;

/// How many bytes may wait to be sent: a socket does not return what it was given.
const MOST_BUFFERED: f64 = 16.0 * 1024.0 * 1024.0;

/// The outputs that were not polled yet.
#[derive(Debug)]
pub(super) struct Outbox {
    /// What the ids of this client's requests begin with, and no other ids: so a response is known as one also when
    /// nothing waits for it any more.
    id_prefix: String,
    request_count: u32,
    outputs: VecDeque<Output>,
    /// How many bytes wait in the socket; nothing if it cannot send.
    pub(super) buffered: Option<f64>,
}

impl Outbox {
    pub(super) fn new(id_prefix: String) -> Self {
        Self { id_prefix, request_count: 0, outputs: VecDeque::new(), buffered: None }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.outputs.is_empty()
    }

    pub(super) fn push(&mut self, output: Output) {
        self.outputs.push_back(output);
    }

    pub(super) fn pop(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Sends a message. If it fails, nothing of it was sent.
    pub(super) fn send(&mut self, text: String) -> Result<()> {
        #[expect(clippy::cast_precision_loss, reason = "a text has no 2^53 bytes")]
        let size = text.len() as f64;
        let Some(buffered) = self.buffered else {
            return Err(network("the connection is closing"));
        };
        if size > MOST_BUFFERED {
            let problem = "the message is too large: at most 16777216 bytes (16 MiB) can be sent";
            return Err(Error::new(ErrorCode::InvalidInput, problem));
        }
        if buffered + size > MOST_BUFFERED {
            let waiting = super::millis(buffered);
            let parts =
                ["the server takes nothing: ", &waiting, " bytes wait to be sent, and at most 16 MiB may"];
            return Err(Error::of(ErrorCode::Network, &parts));
        }
        self.buffered = Some(buffered + size);
        self.push(Output::Send(text));
        Ok(())
    }

    /// A new id for a request: the prefix and eight digits, which makes 21 characters. Some servers demand just that.
    pub(super) fn new_id(&mut self) -> String {
        self.request_count = self.request_count.wrapping_add(1);
        let mut id = self.id_prefix.clone();
        for at in (0..8).rev() {
            let digit = (self.request_count >> (4 * at)) & 15;
            id.extend(char::from_digit(digit, 16));
        }
        id
    }

    /// Whether this is the id of a request of this client's.
    pub(super) fn is_own(&self, id: &str) -> bool {
        id.get(..ID_PREFIX_LENGTH).is_some_and(|prefix| prefix == self.id_prefix)
    }
}
