//! `interop`: vendors' own client libraries against the development gateway. What they accept is
//! the gateway's proof that it speaks the protocol, and so ours that we read it.

use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};

use crate::command::{Shown, show};
use crate::gateway::{self, Gateway};
use crate::progress::begin;
use crate::project::Project;
use crate::test::tally::{self, Tally};
use crate::tools::python;

/// A run talks to the loopback interface only; one that takes longer than this hangs.
const LIMIT: Duration = Duration::from_mins(5);

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Whose client library to run.
    #[arg(value_enum, default_value_t = Vendor::Truefoundry)]
    vendor: Vendor,
}

/// The vendors whose client libraries are run.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Vendor {
    /// The Python package truefoundry-gateway-sdk.
    Truefoundry,
}

/// Runs one vendor's client and fails when a case failed.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let tally = run_vendor(project, options.vendor)?;
    if tally.failed > 0 {
        bail!("{} interop case(s) failed; see the output above", tally.failed);
    }
    Ok(())
}

/// Runs one vendor's client and counts its cases.
pub(crate) fn run_vendor(project: &Project, vendor: Vendor) -> Result<Tally> {
    let Vendor::Truefoundry = vendor;
    let python = python::with_package("truefoundry-gateway-sdk", "0.4.2")?;
    let program = gateway::build(project)?;
    let gateway = Gateway::start(&program, 0, None)?;
    begin("interop: truefoundry-gateway-sdk 0.4.2 (Python) against the development gateway");
    let Shown { status, output } = show(
        Command::new(python)
            .arg(project.path("tests/interop/truefoundry.py"))
            .args(["--base-url", &format!("{}/acme", gateway.url())])
            .env("PYTHONUNBUFFERED", "1"),
        LIMIT,
    )?;
    tally::of_run("interop", status, tally::closing_line(&output))
}
