//! Codex app-server, driven by the built package in headless Chromium through the relay. The driving script starts and
//! ends the server, its model and its relay.

use std::process::Command;

use anyhow::Result;

use crate::command::{Shown, show};
use crate::gateway;
use crate::package;
use crate::progress::begin;
use crate::project::Project;
use crate::test::tally::{self, Tally};
use crate::tools::{browser, npm};

/// Installs and builds what is needed, and counts the script's cases.
pub(super) fn run(project: &Project) -> Result<Tally> {
    npm::ci(project, "tests/interop/codex", "with Codex inside, 400 MB")?;
    package::build(project)?;
    npm::ci(project, "tests", "which drive the browser and judge the package")?;
    let gateway = gateway::build(project)?;
    let relay = gateway::build_relay(project)?;
    let browser = browser::find_or_install()?;
    begin("interop: Codex app-server 0.169.0 behind the relay, the package in Chromium");
    let mut tally = Tally::default();
    // The second script has a relay that holds the sockets.
    for script in ["main.mjs", "held.mjs"] {
        let Shown { status, output } = show(
            Command::new("node")
                .arg(project.path("tests/interop/codex").join(script))
                .env("TURNWIRE_GATEWAY", &gateway)
                .env("TURNWIRE_RELAY", &relay)
                .env("CHROME", &browser.chrome),
            super::LIMIT,
        )?;
        tally.add(tally::of_run("interop", status, tally::closing_line(&output))?);
    }
    Ok(tally)
}
