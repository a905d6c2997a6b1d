//! The tools that tasks need, each found or installed on first use.

pub(crate) mod browser;
pub(crate) mod engines;
pub(crate) mod npm;
pub(crate) mod python;
pub(crate) mod rust;
mod system;
