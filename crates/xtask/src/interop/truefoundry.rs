//! The vendor's Python client against the development gateway.

use std::process::Command;

use anyhow::Result;

use crate::command::{Shown, show};
use crate::gateway::{self, Gateway};
use crate::progress::begin;
use crate::project::Project;
use crate::test::tally::{self, Tally};
use crate::tools::python;

/// Installs the client, starts a gateway, and counts the client's cases.
pub(super) fn run(project: &Project) -> Result<Tally> {
    let python = python::with_package("truefoundry-gateway-sdk", "0.4.2")?;
    let program = gateway::build(project)?;
    let gateway = Gateway::start(&program, 0, None)?;
    begin("interop: truefoundry-gateway-sdk 0.4.2 (Python) against the development gateway");
    let Shown { status, output } = show(
        Command::new(python)
            .arg(project.path("tests/interop/truefoundry.py"))
            .args(["--base-url", &format!("{}/acme", gateway.url())])
            .env("PYTHONUNBUFFERED", "1"),
        super::LIMIT,
    )?;
    tally::of_run("interop", status, tally::closing_line(&output))
}
