//! How a gateway is set up.

use std::path::PathBuf;
use std::time::Duration;

pub use crate::faults::Chaos;
pub use crate::http::{Delivery, Numbers};

/// The settings of a gateway.
#[derive(Debug, Clone)]
pub struct Config {
    /// The only bearer token that is accepted; `None` accepts any, and none at all.
    pub token: Option<String>,
    /// Whether a WebSocket may bring its token as `?access_token=`: pages cannot set a header on it.
    pub token_in_query: bool,
    /// A directory whose files are served at `/`.
    pub www: Option<PathBuf>,
    /// Whether each request is written to stderr.
    pub log: bool,
    /// The pace of scripts when neither the request, nor `delivery`, nor the script says.
    pub beat: Duration,
    /// Delivery settings for requests without their own.
    pub delivery: Delivery,
    /// After this much silence a stream gets an SSE comment.
    pub silence: Duration,
    /// How long a turn's stream can still be read after the turn has ended.
    pub stream_kept: Duration,
    /// A turn that takes longer is cancelled.
    pub turn_limit: Duration,
    /// Faults at random.
    pub chaos: Option<Chaos>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            token: None,
            token_in_query: false,
            www: None,
            log: false,
            beat: Duration::from_millis(25),
            delivery: Delivery::default(),
            silence: Duration::from_secs(15),
            stream_kept: Duration::from_mins(5),
            turn_limit: Duration::from_mins(10),
            chaos: None,
        }
    }
}
