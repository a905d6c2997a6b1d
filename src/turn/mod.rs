//! A turn's life: which calls are allowed when, its cursor, its result, and its recovery when the connection breaks.
//! This folder knows the calls, requests and events of protocols, but no wire formats, clocks, sockets or JavaScript.

mod answered;
mod conventions;
mod cursor;
mod driver;
mod fields;
mod fingerprints;
mod frames;
mod incoming;
mod input;
mod intake;
mod lost_start;
mod machine;
mod numbering;
mod output;
mod policy;
mod reader;
mod result_counts;
#[cfg(test)]
mod tests;

pub use cursor::{Admission, Cursor};
pub use driver::{Awaited, Moment, Outcome, Pause, Plan, RetryBudget, Step, TurnDriver, Waiting};
pub use input::{Pending, TurnInput};
pub use lost_start::{Newest, StartTrace};
pub use machine::{StreamEnd, StreamPlan, TurnMachine, TurnStatus};
pub use policy::{Failure, Reconnect};
pub use reader::TurnReader;

fn digits(number: u64) -> String {
    let mut digits = String::new();
    crate::json::write_u64(&mut digits, number);
    digits
}
