//! The names of keys. They reveal nothing about users and sessions, and a turn's keys are in one slot of a cluster.

use super::super::names::digest;
pub(super) use super::super::names::tag;

/// All turns.
pub(super) const TURNS: &str = "tw:t:*:m";
/// All sessions.
pub(super) const SESSIONS: &str = "tw:o:*";
/// The set of the running turns' tags.
pub(super) const OPEN: &str = "tw:open";

/// The state of a turn.
pub(super) fn turn(tag: &str) -> String {
    format!("tw:t:{{{tag}}}:m")
}

/// Its frames.
pub(super) fn frames(tag: &str) -> String {
    format!("tw:t:{{{tag}}}:s")
}

/// The channel of its hints.
pub(super) fn channel(tag: &str) -> String {
    format!("tw:t:{{{tag}}}:c")
}

/// Remains for a while after the turn was removed on purpose.
pub(super) fn removed(tag: &str) -> String {
    format!("tw:t:{{{tag}}}:x")
}

/// The tag in the name of a turn's key.
pub(super) fn tag_of(turn: &str) -> Option<&str> {
    turn.strip_prefix("tw:t:{")?.strip_suffix("}:m")
}

/// The list of a user's turns.
pub(super) fn list(upstream: &str, subject: &str) -> String {
    format!("tw:l:{}", digest(&[upstream, subject]))
}

/// When a user may start turns again.
pub(super) fn starts(subject: &str) -> String {
    format!("tw:u:{{{}}}:s", digest(&[subject]))
}

/// A user's counted running turns.
pub(super) fn running(subject: &str) -> String {
    format!("tw:u:{{{}}}:r", digest(&[subject]))
}

/// The owner of a session.
pub(super) fn session(upstream: &str, session: &str) -> String {
    format!("tw:o:{}", digest(&[upstream, session]))
}
