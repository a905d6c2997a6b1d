//! What the steps of one test run share: the package, the gateway and the browser, each made once.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, anyhow, bail};

use crate::command::{Shown, show};
use crate::gateway;
use crate::package;
use crate::progress::note;
use crate::project::Project;
use crate::test::report::Verdict;
use crate::test::tally::{self, Tally};
use crate::tools::browser::{self, Browser};
use crate::tools::engines::Engines;
use crate::tools::npm;

/// The longest that one runner may take, compiling included.
pub(crate) const LIMIT: Duration = Duration::from_mins(15);

/// How much of each step runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Some rows of each kind.
    Quick,
    /// Every row.
    All,
}

impl Scope {
    /// The variable by which tests know; one that is run without it runs every row.
    const VARIABLE: &str = "TURNWIRE_TEST";

    /// Tells a runner.
    pub(crate) fn tell(self, command: &mut Command) -> &mut Command {
        command.env(Self::VARIABLE, if self == Self::Quick { "quick" } else { "all" })
    }

    /// What a quick run has of something; says so if that is less than all.
    pub(crate) fn of<T: PartialEq + Display>(self, quick: T, all: T, what: &str) -> T {
        if self == Self::All || quick == all {
            return all;
        }
        note(&format!("quick: {quick} of {all} {what}; --all has the rest"));
        quick
    }
}

/// The state of one test run.
#[derive(Debug)]
pub(crate) struct Session<'a> {
    /// The paths.
    pub(crate) project: &'a Project,
    /// How much of each step runs.
    pub(crate) scope: Scope,
    package_built: Option<bool>,
    gateway: Option<PathBuf>,
    browser: Option<Browser>,
    engines: Option<Engines>,
}

impl<'a> Session<'a> {
    /// A session in which nothing is made yet.
    pub(crate) fn new(project: &'a Project, scope: Scope) -> Self {
        Self { project, scope, package_built: None, gateway: None, browser: None, engines: None }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_told_and_all_is_what_there_is() {
        for (scope, word, seconds) in [(Scope::Quick, "quick", 5), (Scope::All, "all", 15)] {
            let mut command = Command::new("node");
            scope.tell(&mut command);
            let told: Vec<_> = command.get_envs().collect();
            assert_eq!(told, [("TURNWIRE_TEST".as_ref(), Some(word.as_ref()))]);
            assert_eq!(scope.of(5, 15, "seconds"), seconds);
            assert_eq!(scope.of(3, 3, "vendors"), 3);
        }
    }
}
