//! Playing a script at its pace, whoever listens: the turn goes on when a client leaves.

mod pace;
mod run;

pub(crate) use pace::Pace;
pub(crate) use run::{Recorder, Stop, run};
