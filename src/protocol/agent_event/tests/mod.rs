//! Tests of the protocol.

mod answers;
mod inputs;
mod messages;
mod requests;
mod turns;
