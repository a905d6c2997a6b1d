//! The names of what is kept. They show nothing of users and sessions, and all keys of a turn are in one slot of a cluster.

use super::super::names::digest;
pub(super) use super::super::names::tag;

/// All turns.
pub(super) const TURNS: &str = "tw:t:*:m";
/// All sessions.
pub(super) const SESSIONS: &str = "tw:o:*";
/// The set of the running turns' tags.
pub(super) const OPEN: &str = "tw:open";

/// Where a turn is, and what is known of it.
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

/// What is left of it for a while if it was removed on purpose.
pub(super) fn removed(tag: &str) -> String {
    format!("tw:t:{{{tag}}}:x")
}

/// The tag in a turn's name.
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

/// A user's running turns, which are counted.
pub(super) fn running(subject: &str) -> String {
    format!("tw:u:{{{}}}:r", digest(&[subject]))
}

/// Whose a session is.
pub(super) fn session(upstream: &str, session: &str) -> String {
    format!("tw:o:{}", digest(&[upstream, session]))
}
