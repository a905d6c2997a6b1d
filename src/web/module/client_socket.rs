//! The socket of a client of the npm package.

use crate::protocol::AnyProtocol;
use crate::rpc::Connection;

/// A client's connection, and the turns that read its streams.
pub(super) struct Socket {
    pub(super) connection: Connection<AnyProtocol>,
    /// Calls and the turns that read them.
    pub(super) readers: Vec<(u32, u32)>,
    /// The calls whose turns have taken messages, each with the length of the message and the turn's flags.
    pub(super) taken: Vec<(u32, u32)>,
    /// The last message as a template, until JavaScript takes it; else empty.
    pub(super) template: String,
}
