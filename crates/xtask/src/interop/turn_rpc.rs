//! The messages between the built package and the development gateway over a WebSocket, checked against the protocol's
//! schema in Python.

use std::process::Command;

use anyhow::Result;

use crate::command::{Shown, show};
use crate::gateway;
use crate::package;
use crate::progress::begin;
use crate::project::Project;
use crate::test::tally::{self, Tally};
use crate::tools::{browser, npm, python};

/// Installs and builds what is needed, and counts the tests.
pub(super) fn run(project: &Project) -> Result<Tally> {
    let python = python::with_package("jsonschema", "4.26.0")?;
    package::build(project)?;
    npm::ci(project, "tests", "which drive the browser and judge the package")?;
    let gateway = gateway::build(project)?;
    let browser = browser::find_or_install()?;
    begin("interop: dialogs of the package in Chromium with the development gateway, against the schema");
    let Shown { status, output } = show(
        Command::new("node")
            .args(["--test", "--test-reporter=spec", "--test-timeout=300000"])
            .arg(project.path("tests/interop/turn-rpc/dialogs.test.mjs"))
            .env("PYTHON", python)
            .env("TURNWIRE_GATEWAY", gateway)
            .env("CHROME", &browser.chrome),
        super::LIMIT,
    )?;
    tally::of_run("interop", status, tally::node(&output))
}
