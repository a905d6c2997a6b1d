//! A family of protocols as the server takes it.

use std::fmt;

use axum::Router;

use crate::context::App;
use crate::faults::Surface;

/// A family of protocols.
pub(crate) struct Protocol {
    /// Its lines on the page at `/`: a name and a base URL each.
    pub(crate) addresses: &'static str,
    /// The family as the faults see it.
    pub(crate) surface: Box<dyn Surface>,
    /// Its routes, with what its handlers keep.
    pub(crate) routes: Box<dyn FnOnce(&App) -> Router + Send>,
}

impl fmt::Debug for Protocol {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Protocol").field(&self.surface).finish()
    }
}
