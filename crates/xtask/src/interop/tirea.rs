//! The tirea agent server, driven by the built package in headless Chromium through the relay. The driving script
//! starts and ends the server, its model and its relay.

use std::process::Command;

use anyhow::Result;

use crate::command::{Shown, show};
use crate::gateway;
use crate::package;
use crate::progress::begin;
use crate::project::Project;
use crate::test::tally::{self, Tally};
use crate::tools::{browser, npm, rust};

/// Installs and builds what is needed, and counts the script's cases.
pub(super) fn run(project: &Project) -> Result<Tally> {
    let server = rust::tirea_server()?;
    package::build(project)?;
    npm::ci(project, "tests", "which drive the browser and judge the package")?;
    let gateway = gateway::build(project)?;
    let relay = gateway::build_relay(project)?;
    let browser = browser::find_or_install()?;
    begin("interop: tirea-agentos-server 0.5.0 behind the relay, the package in Chromium");
    let mut tally = Tally::default();
    // The second script has a relay that keeps runs.
    for script in ["main.mjs", "kept.mjs"] {
        let Shown { status, output } = show(
            Command::new("node")
                .arg(project.path("tests/interop/tirea").join(script))
                .env("TIREA_SERVER", server.join("tirea-agentos-server"))
                .env("TURNWIRE_GATEWAY", &gateway)
                .env("TURNWIRE_RELAY", &relay)
                .env("CHROME", &browser.chrome),
            super::LIMIT,
        )?;
        tally.add(tally::of_run("interop", status, tally::closing_line(&output))?);
    }
    Ok(tally)
}
