//! Tests of a turn's life: the machine as a table, the cursor, remedies for failures, the rules of inputs, the reader
//! at a stream's end, and every recovery rule of the driver.

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
pub(super) mod relayed;
mod repeats;
mod replays;
pub(super) mod runs;
mod sockets;
mod starts;
mod uncursored;
pub(super) mod unnamed;
mod waiting;
