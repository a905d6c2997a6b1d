//! One request, as its method receives it.

use std::sync::Arc;

use super::envelope::{Failure, Request};
use super::peer::Peer;
use super::thread::App;
use crate::faults::{Fault, OpenStream};

/// One request, as its method receives it.
pub(super) struct Asked<'a> {
    pub(super) app: &'a App,
    pub(super) peer: &'a Arc<Peer>,
    pub(super) open: &'a OpenStream,
    pub(super) request: Request,
    /// The faults that were planned for it.
    pub(super) faults: Vec<Fault>,
}

impl Asked<'_> {
    /// A text that must not be empty.
    pub(super) fn required(&self, name: &str, value: &str) -> Result<(), Failure> {
        if value.is_empty() {
            let problem = format!("`{name}` is required");
            return Err(Failure::invalid_params(&self.request.method, problem));
        }
        Ok(())
    }
}
