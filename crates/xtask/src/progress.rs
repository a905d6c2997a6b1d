//! Progress lines: what a long step does and why, with the seconds since the task began.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use crate::output::say;

static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Time since the first progress line of this run.
pub(crate) fn elapsed() -> Duration {
    BEGAN.elapsed()
}

/// Reports what begins now.
pub(crate) fn begin(message: &str) {
    say(&format!("[{:7.1}s] {message}", elapsed().as_secs_f64()));
}

/// Reports what was already done, or has succeeded.
pub(crate) fn note(message: &str) {
    say(&format!("[{:7.1}s]   {message}", elapsed().as_secs_f64()));
}

/// A header that separates the parts of a long run.
pub(crate) fn header(title: &str) {
    let rule = "─".repeat(72_usize.saturating_sub(title.chars().count() + 4));
    say(&format!("\n── {title} {rule}"));
}
