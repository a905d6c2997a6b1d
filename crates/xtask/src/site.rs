//! `docs`: the static site of the README, the documents, the reference and the demo.

use std::process::Command;

use anyhow::Result;
use clap::Args;

use crate::command::run as run_command;
use crate::demo;
use crate::progress::{begin, note};
use crate::project::Project;
use crate::tools::npm;

#[derive(Debug, Default, Args)]
pub(crate) struct Options {
    /// Serves the site when it is built.
    #[arg(long)]
    serve: bool,
}

/// Builds the site. Fails for a link that leads nowhere, and for an export without a comment.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    // The demo is a part of the site, and the build writes sources that the reference is made of.
    demo::build_page(project)?;
    npm::ci(project, "site", "which build the site")?;
    begin("site: writing the reference, building the pages (typedoc, vitepress)");
    let site = project.path("site");
    run_command(Command::new("node").arg("build.mjs").current_dir(&site))?;
    note("site: site/.vitepress/dist/ is built");
    if options.serve {
        run_command(npm::npm(&site).args(["exec", "vitepress", "preview"]))?;
    }
    Ok(())
}
