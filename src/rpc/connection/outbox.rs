//! Outgoing messages: the ids of requests, and how much may be buffered in a socket.

use crate::error::{Error, ErrorCode, Result};
use crate::rpc::Message;

use super::{Output, millis, network};

/// The maximum number of bytes buffered in a socket: it does not report whether it accepts more.
const MAX_BUFFERED: u64 = 16 * 1024 * 1024;

/// The outputs that have not been polled.
#[derive(Debug)]
pub(super) struct Outbox {
    /// The beginning of the ids of this client's requests, unique to this client.
    pub(super) id_prefix: String,
    /// The number of messages sent. A request's number is part of its id.
    pub(super) count: u32,
    outputs: Vec<Output>,
    /// The number of bytes buffered in the socket; `None` if it cannot send.
    pub(super) buffered: Option<u64>,
}

impl Outbox {
    pub(super) fn new(id_prefix: String) -> Self {
        Self { id_prefix, count: 0, outputs: Vec::new(), buffered: None }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.outputs.is_empty()
    }

    pub(super) fn push(&mut self, output: Output) {
        self.outputs.push(output);
    }

    pub(super) fn extend(&mut self, output: Option<Output>) {
        self.outputs.extend(output);
    }

    /// Takes the first output if it matches.
    pub(super) fn pop_if(&mut self, is_meant: fn(&Output) -> bool) -> Option<Output> {
        let is_there = self.outputs.first().is_some_and(is_meant);
        is_there.then(|| self.outputs.remove(0))
    }

    /// Sends a message, and returns its number. On failure, nothing of it was sent.
    pub(super) fn send(&mut self, message: &Message) -> Result<u32> {
        let Some(buffered) = self.buffered else {
            return Err(network("the connection is closing"));
        };
        let number = self.count.wrapping_add(1);
        let text = message.to_wire(&self.id_prefix, number);
        let size = text.len() as u64;
        if size > MAX_BUFFERED {
            let problem = "the message is too large: at most 16777216 bytes (16 MiB) can be sent";
            return Err(Error::new(ErrorCode::InvalidInput, problem));
        }
        if buffered + size > MAX_BUFFERED {
            let waiting = millis(buffered);
            let parts =
                ["the server takes nothing: ", &waiting, " bytes wait to be sent, and at most 16 MiB may"];
            return Err(Error::of(ErrorCode::Network, &parts));
        }
        self.buffered = Some(buffered + size);
        self.count = number;
        self.push(Output::Send(text));
        Ok(number)
    }

    /// Sends a message again on another connection, under its old number.
    pub(super) fn repeat(&mut self, message: &Message, number: u32) {
        let text = message.to_wire(&self.id_prefix, number);
        self.buffered = self.buffered.map(|buffered| buffered + text.len() as u64);
        self.push(Output::Send(text));
    }
}
