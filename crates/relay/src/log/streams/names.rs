//! The paths of the streams, relative to the server's address.

pub(super) use super::super::names::{digest, tag};

/// A turn's records.
pub(super) fn turn(tag: &str) -> String {
    format!("/turns/{tag}")
}

/// What users want of a running turn.
pub(super) fn wishes(tag: &str) -> String {
    format!("/wishes/{tag}")
}

/// What remains of a turn whose frames are gone.
pub(super) fn past(tag: &str) -> String {
    format!("/past/{tag}")
}

/// Remains for a while after a turn was removed on purpose.
pub(super) fn removed(tag: &str) -> String {
    format!("/removed/{tag}")
}

/// Decides which relay removes a turn that never began.
pub(super) fn removing(log: u64) -> String {
    format!("/removing/{log:016x}")
}

/// The turns that began on a day.
pub(super) fn day(day: u64) -> String {
    format!("/index/{day}")
}

/// The owner of a session.
pub(super) fn session(session: &str) -> String {
    format!("/sessions/{session}")
}

/// All sessions.
pub(super) const SESSIONS: &str = "/sessions/all";
