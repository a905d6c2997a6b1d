//! How a gateway is set up: the settings are also the options of its command line.

use std::num::ParseIntError;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use turnwire_relay::Upstream;

pub use crate::faults::Chaos;
pub use crate::http::{Delivery, Numbers};

/// The settings of a gateway.
#[derive(Debug, Clone, Args)]
pub struct Config {
    /// Accept only this bearer token. Without it, any token is accepted, and none at all.
    #[arg(long)]
    pub token: Option<String>,
    /// Let a WebSocket bring its token in the address too, as `?access_token=`, since pages cannot set a
    /// header on it. So it is with `--www` anyway.
    #[arg(long)]
    pub token_in_query: bool,
    /// Serve the files of this directory at `/`.
    #[arg(long, value_name = "DIR")]
    pub www: Option<PathBuf>,
    /// Pass what is asked below `/relay` on to this `turnwire-relay`, under the same faults. Given several times, each request
    /// goes to the next of them.
    #[arg(long = "relay", value_name = "URL")]
    pub relays: Vec<Upstream>,
    /// Write a line to stderr for each request.
    #[arg(long)]
    pub log: bool,
    /// The pace of scripts when neither the request, nor `delivery`, nor the script says.
    #[arg(skip = Duration::from_millis(25))]
    pub beat: Duration,
    /// Delivery settings for requests without their own.
    #[command(flatten)]
    pub delivery: Delivery,
    /// Silence after which a stream gets a comment, in milliseconds.
    #[arg(long = "ping-ms", value_name = "MS", default_value = "15000", value_parser = milliseconds)]
    pub silence: Duration,
    /// How long a finished turn's stream can be read, in milliseconds.
    #[arg(long = "keep-ms", value_name = "MS", default_value = "300000", value_parser = milliseconds)]
    pub stream_kept: Duration,
    /// How long a turn may take, in milliseconds. A turn that takes longer is cancelled.
    #[arg(long = "turn-limit-ms", value_name = "MS", default_value = "600000", value_parser = milliseconds)]
    pub turn_limit: Duration,
    /// Faults at random.
    #[arg(skip)]
    pub chaos: Option<Chaos>,
}

fn milliseconds(text: &str) -> Result<Duration, ParseIntError> {
    text.parse().map(Duration::from_millis)
}

impl Default for Config {
    fn default() -> Self {
        Self {
            token: None,
            token_in_query: false,
            www: None,
            relays: Vec::new(),
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
