//! Messages to whoever runs the relay.

use std::fmt::Display;
use std::io::{Write, stderr};

/// Writes a line to stderr. If that is a file on a full disk, the line is lost: `eprintln!` would panic, and end a task that
/// has work to do when there is room again.
pub(crate) fn say(text: impl Display) {
    let _ = writeln!(stderr(), "turnwire-relay: {text}");
}
