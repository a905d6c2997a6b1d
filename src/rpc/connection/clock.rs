//! Time that does not go back.

/// Follows the clock on the wall, which may be set back, and goes on while the machine sleeps.
#[derive(Debug, Default)]
pub(super) struct Clock {
    wall: f64,
    now: f64,
}

impl Clock {
    /// It is this time by the clock on the wall.
    pub(super) fn advance(&mut self, wall: f64) {
        self.now += (wall - self.wall).max(0.0);
        self.wall = wall;
    }

    /// The time, in milliseconds. Only differences mean something.
    pub(super) fn now(&self) -> f64 {
        self.now
    }
}
