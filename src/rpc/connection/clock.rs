//! A clock that never goes back.

/// A time that never comes.
pub(super) const NEVER: u64 = u64::MAX;

/// Follows the wall clock, which may be set back, and which continues while the machine sleeps.
#[derive(Debug, Default)]
pub(super) struct Clock {
    wall: u64,
    /// The time in milliseconds. Only differences are meaningful.
    pub(super) now: u64,
}

impl Clock {
    /// Takes the time of the wall clock.
    pub(super) fn advance(&mut self, wall: u64) {
        self.now += wall.saturating_sub(self.wall);
        self.wall = wall;
    }

    /// The end of a time limit that begins now; 0 means no limit.
    pub(super) fn after(&self, limit: u64) -> u64 {
        self.now.saturating_add(limit_of(limit))
    }
}

/// A limit in milliseconds, where 0 means none.
pub(super) fn limit_of(limit: u64) -> u64 {
    if limit == 0 { NEVER } else { limit }
}
