//! A turn's life: what may be called when, where its cursor stands, how it ended.

mod cursor;
mod input;
mod machine;
mod reader;
#[cfg(test)]
mod tests;

pub use cursor::Cursor;
pub use input::{Pending, TurnInput};
pub use machine::{StreamEnd, StreamPlan, TurnMachine, TurnStatus};
pub use reader::TurnReader;
