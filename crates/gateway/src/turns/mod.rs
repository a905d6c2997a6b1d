//! Plays scripts at their pace. A turn goes on when its client leaves.

mod clock;
mod play;

pub(crate) use clock::{Clock, Flow, Gate, Stop};
pub(crate) use play::{Cue, Player, Script, play};
