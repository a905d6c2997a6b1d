//! The driver's table of transitions: what each outcome leads to in each state. `docs/architecture.md` has the same
//! table.
//!
//! `UPDATE_GOLDEN=1 cargo test -p turnwire --lib turn::tests::states` writes it there.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value as Json, json};

use super::play::Act::{Aborted, Answers, Breaks, Brings, Fails, Unsent, Waited};
use super::play::{
    Act, Play, asking_for_call, calling, frames, http, listed, network, numbered_turn, of_code, page, paused,
    record, started, trace, unnumbered,
};
use super::runs::{self, answering, forsaken, kept, live, payloads, recorded, stored, wrapped};
use crate::error::ErrorCode;
use crate::json::Value;
use crate::protocol::aap::Aap;
use crate::turn::driver::STATES;
use crate::turn::{Newest, Reconnect, StartTrace};
