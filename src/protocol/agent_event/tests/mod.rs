//! Tests of the protocol.

mod answers;
mod requests;
