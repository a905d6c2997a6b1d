//! A socket, as the methods know it.

use std::sync::Arc;

use super::outbox::Outbox;
use crate::faults::Fault;
use crate::http::Delivery;

/// What the methods know of a socket.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) number: u64,
    pub(super) outbox: Arc<Outbox>,
    /// The pace of the turns that it starts.
    pub(super) delivery: Delivery,
    /// The faults that its upgrade request asked for.
    pub(super) faults: Vec<Fault>,
}
