//! The vendor's Python client against the development gateway, also through a relay.

use std::process::Command;

use anyhow::Result;

use crate::command::{Shown, show};
use crate::gateway::{self, Gateway};
use crate::progress::begin;
use crate::project::Project;
use crate::relay::Relay;
use crate::test::tally::{self, Tally};
use crate::tools::python;

/// The relay's port, if it is free. Steps that run at the same time use others.
const RELAY_PORT: u16 = 8837;
/// The pause between events behind the relay, in milliseconds: a client's setting does not pass the relay.
const PACE: &str = "2";

/// Installs the client, starts a gateway and a relay before another one, and counts the client's cases.
pub(super) fn run(project: &Project) -> Result<Tally> {
    let python = python::with_package("truefoundry-gateway-sdk", "0.4.2")?;
    let program = gateway::build(project)?;
    let drive = |base_url: &str, more: &[&str]| {
        let Shown { status, output } = show(
            Command::new(&python)
                .arg(project.path("tests/interop/truefoundry.py"))
                .args(["--base-url", base_url])
                .args(more)
                .env("PYTHONUNBUFFERED", "1"),
            super::LIMIT,
        )?;
        tally::of_run("interop", status, tally::closing_line(&output))
    };
    let gateway = Gateway::start(&program, 0, None)?;
    begin("interop: truefoundry-gateway-sdk 0.4.2 (Python) against the development gateway");
    let mut tally = drive(&format!("{}/acme", gateway.url()), &[])?;
    let relay = Relay::prepare(project, "interop", RELAY_PORT)?;
    let paced = Gateway::start_with(&program, 0, None, &["--delay-ms", PACE])?;
    let _running = relay.start(paced.url())?;
    begin("interop: the same through a relay");
    tally.add(drive(&format!("{}/demo", relay.url()), &["--relayed"])?);
    Ok(tally)
}
