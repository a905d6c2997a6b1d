//! What the steps of one test run share: the package, the gateway and the browser, each built once.

use std::fmt::Display;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Result, bail};

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
    /// The environment variable for tests; a test without it runs every row.
    const VARIABLE: &str = "TURNWIRE_TEST";

    /// Sets the variable for a runner.
    pub(crate) fn tell(self, command: &mut Command) -> &mut Command {
        command.env(Self::VARIABLE, if self == Self::Quick { "quick" } else { "all" })
    }

    /// The quick run's part of something; reports it if that is less than all.
    pub(crate) fn of<T: PartialEq + Display>(self, quick: T, all: T, what: &str) -> T {
        if self == Self::All || quick == all {
            return all;
        }
        note(&format!("quick: {quick} of {all} {what}; --all has the rest"));
        quick
    }
}

/// The state of one test run. Steps that run side by side share it.
#[derive(Debug)]
pub(crate) struct Session<'a> {
    /// The paths.
    pub(crate) project: &'a Project,
    /// How much of each step runs.
    pub(crate) scope: Scope,
    package_built: Mutex<Option<bool>>,
    gateway: Mutex<Option<PathBuf>>,
    relay: Mutex<Option<PathBuf>>,
    browser: Mutex<Option<Browser>>,
    engines: Mutex<Option<Engines>>,
    unsteady: Mutex<Vec<String>>,
}

impl<'a> Session<'a> {
    /// A session in which nothing is made yet.
    pub(crate) fn new(project: &'a Project, scope: Scope) -> Self {
        Self {
            project,
            scope,
            package_built: Mutex::default(),
            gateway: Mutex::default(),
            relay: Mutex::default(),
            browser: Mutex::default(),
            engines: Mutex::default(),
            unsteady: Mutex::default(),
        }
    }

    /// Builds the package at the first call; later calls return the same result without trying again.
    pub(crate) fn package(&self) -> Result<()> {
        let mut is_built = self.package_built.lock().unwrap_or_else(PoisonError::into_inner);
        match *is_built {
            Some(true) => Ok(()),
            Some(false) => bail!("the package did not build; see the step that built it"),
            None => {
                let built = package::build(self.project);
                *is_built = Some(built.is_ok());
                built
            }
        }
    }

    /// The gateway's program.
    pub(crate) fn gateway(&self) -> Result<PathBuf> {
        once(&self.gateway, || gateway::build(self.project))
    }

    /// The relay's program.
    pub(crate) fn relay(&self) -> Result<PathBuf> {
        once(&self.relay, || gateway::build_relay(self.project))
    }

    /// The browser.
    pub(crate) fn browser(&self) -> Result<Browser> {
        once(&self.browser, browser::find_or_install)
    }

    /// The other engines' browsers and drivers.
    pub(crate) fn engines(&self) -> Result<Engines> {
        once(&self.engines, Engines::find_or_install)
    }

    /// Runs failed tests again. Tests with browsers and clocks can fail on a busy machine; those that pass the second
    /// time are listed at the end of the run.
    pub(crate) fn again(
        &self,
        name: &dyn Display,
        first: Result<Tally>,
        run: impl FnOnce() -> Result<Tally>,
    ) -> Result<Tally> {
        let why = match first {
            Ok(Tally { failed: 0, .. }) => return first,
            Ok(Tally { failed, .. }) => format!("{failed} failed"),
            Err(error) => format!("{error:#}"),
        };
        note(&format!("{name}: {why}; once more, by itself"));
        let second = run()?;
        if second.failed == 0 {
            let mut unsteady = self.unsteady.lock().unwrap_or_else(PoisonError::into_inner);
            unsteady.push(format!("{name} ({why})"));
        }
        Ok(second)
    }

    /// The files that first failed and then passed.
    pub(crate) fn unsteady(&self) -> Vec<String> {
        self.unsteady.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The packages that the end-to-end tests are written with.
    pub(crate) fn test_packages(&self) -> Result<()> {
        npm::ci(self.project, "tests", "which drive the browser and judge the package")
    }
}

/// A value that is made at the first call; simultaneous callers wait.
fn once<T: Clone>(kept: &Mutex<Option<T>>, make: impl FnOnce() -> Result<T>) -> Result<T> {
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    match &*kept {
        Some(known) => Ok(known.clone()),
        None => Ok(kept.insert(make()?).clone()),
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
    played(runner, command, read).map(Verdict::Counted)
}

/// The count alone.
pub(crate) fn played(runner: &str, command: &mut Command, read: impl Fn(&str) -> Tally) -> Result<Tally> {
    let Shown { status, output } = show(command, LIMIT)?;
    tally::of_run(runner, status, read(&output))
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn what_passes_only_the_second_time_is_named() {
        let project = Project::find().expect("the tests run in the checkout");
        let session = Session::new(&project, Scope::Quick);
        let of = |passed, failed| Tally { passed, failed };
        let again = |first, second| session.again(&"some.test.mjs", first, || second).ok();
        assert_eq!(again(Ok(of(3, 0)), Ok(of(0, 9))), Some(of(3, 0)));
        assert_eq!(again(Ok(of(2, 1)), Ok(of(2, 1))), Some(of(2, 1)));
        assert_eq!(again(Ok(of(2, 1)), Err(anyhow!("it crashed"))), None);
        assert!(session.unsteady().is_empty());
        assert_eq!(again(Err(anyhow!("it crashed")), Ok(of(3, 0))), Some(of(3, 0)));
        assert_eq!(session.unsteady(), ["some.test.mjs (it crashed)"]);
    }

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
