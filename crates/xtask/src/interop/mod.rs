//! `interop`: other projects' software against this project's. A vendor's own client drives the development gateway,
//! which proves that the gateway speaks the protocol. The built package drives a vendor's own server in a browser,
//! which proves that the package reads it.

mod ag_ui;
mod codex;
mod tirea;
mod truefoundry;
mod turn_rpc;

use std::time::Duration;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};

use crate::project::Project;
use crate::test::tally::Tally;

/// A run talks to the loopback interface only; one that takes longer than this hangs.
const LIMIT: Duration = Duration::from_mins(5);

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Whose software to run.
    #[arg(value_enum, default_value_t = Vendor::Truefoundry)]
    vendor: Vendor,
}

/// The vendors whose software is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Vendor {
    /// The Python package truefoundry-gateway-sdk, against the development gateway.
    Truefoundry,
    /// The server tirea-agentos-server, against the package in Chromium.
    Tirea,
    /// A checker of dialogs, against the package in Chromium and the development gateway.
    TurnRpc,
    /// The npm packages `@ag-ui/client` and `@ag-ui/core`, against the development gateway.
    AgUi,
    /// Servers of agent frameworks that speak AG-UI, against its official client, and against the package in Chromium.
    AgUiServers,
    /// The server of Codex, against the package in Chromium.
    Codex,
}

impl Vendor {
    /// Whether a quick run leaves its software out: it is 400 MB to download, or more.
    pub(crate) fn is_large(self) -> bool {
        matches!(self, Self::AgUiServers | Self::Codex)
    }

    /// All of them.
    pub(crate) const ALL: [Self; 6] =
        [Self::Truefoundry, Self::Tirea, Self::TurnRpc, Self::AgUi, Self::AgUiServers, Self::Codex];
}

/// Runs one vendor's software and fails when a case failed.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let tally = run_vendor(project, options.vendor)?;
    if tally.failed > 0 {
        bail!("{} interop case(s) failed; see the output above", tally.failed);
    }
    Ok(())
}

/// Runs one vendor's software and counts its cases.
pub(crate) fn run_vendor(project: &Project, vendor: Vendor) -> Result<Tally> {
    match vendor {
        Vendor::Truefoundry => truefoundry::run(project),
        Vendor::Tirea => tirea::run(project),
        Vendor::TurnRpc => turn_rpc::run(project),
        Vendor::AgUi => ag_ui::run_client(project),
        Vendor::AgUiServers => ag_ui::run_servers(project),
        Vendor::Codex => codex::run(project),
    }
}
