//! A turn's life: what may be called when, where its cursor stands, how it ended, and how it is recovered when its connection breaks.

mod answered;
mod cursor;
mod driver;
mod fields;
mod frames;
mod input;
mod lost_start;
mod machine;
mod policy;
mod prints;
mod reader;
mod results;
#[cfg(test)]
mod tests;

pub use cursor::{Admission, Cursor};
pub use driver::{Awaited, Moment, Outcome, Pause, Plan, Step, TurnDriver, Waiting};
pub use input::{Pending, TurnInput};
pub use lost_start::{Newest, StartTrace};
pub use machine::{StreamEnd, StreamPlan, TurnMachine, TurnStatus};
pub use policy::{Failure, Reconnect};
pub use reader::TurnReader;
