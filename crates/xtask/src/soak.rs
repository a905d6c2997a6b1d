//! `soak`: many turns at once on connections that keep breaking. No event may be lost or doubled.

use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::Args;

use crate::command::{Shown, show};
use crate::gateway::{self, Gateway};
use crate::package;
use crate::progress::begin;
use crate::project::Project;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How many turns run at once.
    #[arg(long, default_value_t = 50)]
    turns: u32,
    /// For how many minutes; decimals are allowed.
    #[arg(long, default_value_t = 1.0)]
    minutes: f64,
    /// What the faults are drawn by.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Options {
    /// What a test run has time for.
    pub(crate) const SHORT: Self = Self { turns: 20, minutes: 0.3, seed: 1 };
}

/// The time that the last turns may take after the given minutes.
const GRACE: Duration = Duration::from_mins(5);

/// Builds what is needed, and fails unless every event came once.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    package::build(project)?;
    let program = gateway::build(project)?;
    let gateway = Gateway::start_with(&program, 0, None, &["--chaos", &options.seed.to_string()])?;
    begin(&format!(
        "soak: {} turns at once for {} min, faults by seed {}",
        options.turns, options.minutes, options.seed
    ));
    let limit = Duration::from_secs_f64(options.minutes.max(0.0) * 60.0) + GRACE;
    let Shown { status, .. } = show(
        Command::new("node")
            .arg(project.path("tests/soak/soak.mjs"))
            .args(["--base-url", gateway.url()])
            .args(["--turns", &options.turns.to_string(), "--minutes", &options.minutes.to_string()]),
        limit,
    )?;
    if !status.is_some_and(|status| status.success()) {
        bail!("events were lost or doubled, or turns failed: see the last line above");
    }
    Ok(())
}
