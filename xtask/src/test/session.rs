//! What the steps of one test run share: the package, the gateway and the browser, each made once.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, anyhow, bail};

use crate::command::{Shown, show};
use crate::gateway;
use crate::package;
use crate::project::Project;
use crate::test::report::Verdict;
use crate::test::tally::{self, Tally};
use crate::tools::browser::{self, Browser};
use crate::tools::engines::Engines;
use crate::tools::npm;

/// The longest that one runner may take, compiling included.
pub(crate) const LIMIT: Duration = Duration::from_mins(15);

/// The state of one test run.
#[derive(Debug)]
pub(crate) struct Session<'a> {
    /// The paths.
    pub(crate) project: &'a Project,
    package_built: Option<bool>,
    gateway: Option<PathBuf>,
    browser: Option<Browser>,
    engines: Option<Engines>,
}

impl<'a> Session<'a> {
    /// A session in which nothing is made yet.
    pub(crate) fn new(project: &'a Project) -> Self {
        Self { project, package_built: None, gateway: None, browser: None, engines: None }
    }

    /// Builds the package at the first call; later calls give the same answer without trying again.
    pub(crate) fn package(&mut self) -> Result<()> {
        match self.package_built {
            Some(true) => Ok(()),
            Some(false) => bail!("the package did not build; see the step that built it"),
            None => {
                let built = package::build(self.project);
                self.package_built = Some(built.is_ok());
                built
            }
        }
    }

    /// The gateway's program.
    pub(crate) fn gateway(&mut self) -> Result<&Path> {
        if self.gateway.is_none() {
            self.gateway = Some(gateway::build(self.project)?);
        }
        self.gateway.as_deref().ok_or_else(|| anyhow!("no gateway"))
    }

    /// The browser.
    pub(crate) fn browser(&mut self) -> Result<&Browser> {
        if self.browser.is_none() {
            self.browser = Some(browser::find_or_install()?);
        }
        self.browser.as_ref().ok_or_else(|| anyhow!("no browser"))
    }

    /// The other engines' browsers and drivers.
    pub(crate) fn engines(&mut self) -> Result<&Engines> {
        if self.engines.is_none() {
            self.engines = Some(Engines::find_or_install()?);
        }
        self.engines.as_ref().ok_or_else(|| anyhow!("no engines"))
    }

    /// The packages that the end-to-end tests are written with.
    pub(crate) fn test_packages(&self) -> Result<()> {
        npm::ci(self.project, "tests", "which drive the browser and judge the package")
    }
}

/// Runs a check that counts no tests; it must end with exit code 0.
pub(crate) fn check(command: &mut Command) -> Result<Verdict> {
    let Shown { status, .. } = show(command, LIMIT)?;
    match status {
        Some(status) if status.success() => Ok(Verdict::Held),
        Some(status) => bail!("`{}` ended with {status}", crate::command::describe(command)),
        None => bail!("`{}` did not end in time", crate::command::describe(command)),
    }
}

/// Runs a test runner and reads its count from what it printed.
pub(crate) fn count(runner: &str, command: &mut Command, read: impl Fn(&str) -> Tally) -> Result<Verdict> {
    let Shown { status, output } = show(command, LIMIT)?;
    tally::of_run(runner, status, read(&output)).map(Verdict::Counted)
}
