//! Tests of a turn's life: the machine as a table, the cursor, what failures are answered with, the rules of
//! inputs, the reader at a stream's end, and every rule by which the driver recovers.

#[cfg(feature = "agent-event")]
mod answers_apart;
mod completing;
mod cursor;
mod driver;
mod fresh;
mod gaps;
mod inputs;
mod leaving;
mod lost_start;
mod machine;
mod missed;
pub(super) mod play;
mod policy;
mod reader;
#[cfg(feature = "agent-event")]
mod replays;
#[cfg(feature = "agent-event")]
pub(super) mod runs;
#[cfg(feature = "turn-rpc")]
mod sockets;
mod starts;
#[cfg(feature = "agent-event")]
mod uncursored;
#[cfg(feature = "aap")]
pub(super) mod unnamed;
mod waiting;
