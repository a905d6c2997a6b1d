//! `matrix`: a turn on cut streams in each bundler and runtime, with the package as npm installs it.

use std::process::Command;
use std::time::Duration;

use anyhow::Result;
use clap::Args;

use crate::command::{Shown, show};
use crate::gateway;
use crate::package;
use crate::project::Project;
use crate::tarball;
use crate::test::tally::{self, Tally};
use crate::tools::{browser, npm};

#[derive(Debug, Default, Args)]
pub(crate) struct Options {
    /// Only rows with one of these words in their names.
    pub(crate) rows: Vec<String>,
    /// Only the rows of a quick test run.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Lists the rows.
    #[arg(long)]
    pub(crate) list: bool,
    /// Writes the table into docs/bundlers.md.
    #[arg(long)]
    pub(crate) write: bool,
}

/// How long all rows may take, with what they install.
const LIMIT: Duration = Duration::from_mins(40);

/// Builds and packs the package, plays the rows, and counts them.
pub(crate) fn run(project: &Project, options: &Options) -> Result<Tally> {
    package::build(project)?;
    npm::ci(project, "tests", "which drive the browser and judge the package")?;
    let mut player = Command::new("node");
    player
        .arg(project.path("tests/matrix/main.mjs"))
        .arg(tarball::pack(project)?.path)
        .arg(project.scratch("matrix")?)
        .args(&options.rows)
        .env("TURNWIRE_GATEWAY", gateway::build(project)?)
        .env("CHROME", browser::find_or_install()?.chrome);
    for (is_set, flag) in [(options.quick, "--quick"), (options.list, "--list"), (options.write, "--write")] {
        if is_set {
            player.arg(flag);
        }
    }
    let Shown { status, output } = show(&mut player, LIMIT)?;
    if options.list {
        return Ok(Tally::default());
    }
    tally::of_run("matrix", status, tally::rust(&output))
}
