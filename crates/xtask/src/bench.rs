//! `bench`: compares turnwire with plain JavaScript and other packages, in one run, in Node and in Chromium. The
//! measured code is in `tests/bench`; this module builds what it needs and starts it.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use clap::Args;

use crate::command;
use crate::load;
use crate::package;
use crate::project::Project;
use crate::tools::{browser, npm};

/// What `cargo xtask bench` takes.
#[derive(Debug, Default, Args)]
pub(crate) struct Options {
    /// Only rows with all of these in their name, such as `truefoundry` or `"for await"`. `relay` alone measures the relay.
    names: Vec<String>,
    /// Little work and one round, claims are not judged: only whether the benchmark itself works.
    #[arg(long)]
    quick: bool,
    /// A built package's directory, with `dist/`, in place of this tree's, which is then not built.
    #[arg(long, value_name = "DIR")]
    package: Option<PathBuf>,
    /// Another built package, measured beside the first one as `other`.
    #[arg(long, value_name = "DIR")]
    against: Option<PathBuf>,
    /// Only in this engine: `node` or `chromium`.
    #[arg(long)]
    engine: Vec<String>,
    /// Writes the table and the chart of the documentation, `docs/bench.md` and `docs/bench.svg`.
    #[arg(long, conflicts_with = "quick")]
    write: bool,
    /// So many rounds, in place of each row's own number.
    #[arg(long)]
    rounds: Option<u32>,
}

impl Options {
    /// What a test run has time for.
    pub(crate) const QUICK: Self = Self {
        names: Vec::new(),
        quick: true,
        package: None,
        against: None,
        engine: Vec::new(),
        write: false,
        rounds: None,
    };
}

/// Installs the candidates and the measuring tools.
pub(crate) fn install(project: &Project) -> Result<()> {
    npm::ci(project, "tests/bench", "which are measured beside turnwire")
}

/// Builds what is needed, and fails if a candidate read a stream incorrectly or a claim does not hold.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    if options.names == ["relay"] {
        return load::run(project, options.quick);
    }
    if options.package.is_none() {
        package::build(project)?;
    }
    install(project)?;
    let mut node = Command::new("node");
    node.arg(project.path("tests/bench/main.mjs")).args(&options.names);
    node.arg("--out").arg(project.target());
    node.env("CHROME", browser::find_or_install()?.chrome);
    for (name, is_set) in [("--quick", options.quick), ("--write", options.write)] {
        if is_set {
            node.arg(name);
        }
    }
    for (name, path) in [("--package", &options.package), ("--against", &options.against)] {
        if let Some(path) = path {
            node.arg(name).arg(std::path::absolute(path).context("the working directory is gone")?);
        }
    }
    for engine in &options.engine {
        node.args(["--engine", engine]);
    }
    if let Some(rounds) = options.rounds {
        node.args(["--rounds", &rounds.to_string()]);
    }
    command::run(&mut node)
}
