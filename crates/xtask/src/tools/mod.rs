//! The tools that tasks need, each found or installed on first use.

use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) mod browser;
mod debian;
pub(crate) mod engines;
pub(crate) mod npm;
pub(crate) mod proxies;
pub(crate) mod python;
pub(crate) mod redis;
pub(crate) mod rust;
mod system;

static INSTALLING: Mutex<()> = Mutex::new(());

/// Held while something is installed: steps that run side by side need the same tools.
fn installing() -> MutexGuard<'static, ()> {
    INSTALLING.lock().unwrap_or_else(PoisonError::into_inner)
}
