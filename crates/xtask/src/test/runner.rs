//! Node's test runner: its files, how many run at a time, and its programs.

use std::cmp::Reverse;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::command::{Shown, show};
use crate::progress::begin;
use crate::test::report::Verdict;
use crate::test::session::{LIMIT, Session};
use crate::test::side_by_side;
use crate::test::tally::{self, Tally};

/// Directories whose tests wait more than they work (connections break, tabs return, people answer), and how many of
/// their files run at a time. Each file has its own process, gateway and browser.
const WAITING: [(&str, usize); 4] =
    [("tests/e2e", 3), ("tests/engines", 3), ("tests/bindings", 2), ("pkg/test", 3)];

/// Files of tests for Node's test runner, which is started for each of them.
#[derive(Debug)]
pub(super) struct NodeTests {
    /// The runner without a file, to query it.
    pub(super) runner: Command,
    /// What distinguishes these tests from others of the same files: the engine they run in.
    pub(super) variant: &'static str,
    files: Vec<PathBuf>,
    /// How many files run at a time.
    at_once: usize,
}

impl NodeTests {
    /// The `*.test.mjs` files of a directory of the checkout.
    pub(super) fn in_directory(session: &Session<'_>, directory: &str) -> Result<Self> {
        let directory = session.project.path(directory);
        let files = test_files(&directory)?;
        Ok(Self::of(session, &directory, files))
    }

    /// These files, run in that directory.
    pub(super) fn of(
        session: &Session<'_>,
        directory: &Path,
        files: impl IntoIterator<Item = PathBuf>,
    ) -> Self {
        let mut runner = Command::new("node");
        runner.args(["--test", "--test-reporter=spec", "--test-timeout=600000"]).current_dir(directory);
        session.scope.tell(&mut runner);
        let waiting = WAITING.iter().find(|(waiting, _)| directory.ends_with(waiting));
        let files = files.into_iter().collect();
        Self { runner, variant: "", files, at_once: waiting.map_or(1, |(_, count)| *count) }
    }

    /// Adds files.
    pub(super) fn add(&mut self, files: impl IntoIterator<Item = PathBuf>) {
        self.files.extend(files);
    }

    /// Runs them and counts their tests. Files that fail run a second time, alone.
    pub(super) fn run(&self, session: &Session<'_>) -> Result<Verdict> {
        Self::run_all(session, std::slice::from_ref(self))
    }

    /// Runs several groups as one, so that no group waits for the last file of the one before.
    pub(super) fn run_all(session: &Session<'_>, groups: &[Self]) -> Result<Verdict> {
        let mut jobs: Vec<(&Self, &PathBuf)> =
            groups.iter().flat_map(|group| group.files.iter().map(move |file| (group, file))).collect();
        // What takes long begins early, so that it does not run last and alone: the largest files have the most tests.
        jobs.sort_by_key(|(_, file)| Reverse(fs::metadata(file).map_or(0, |file| file.len())));
        let at_once = groups.iter().map(|group| group.at_once).max().unwrap_or(1);
        let name = |(group, file): &(&Self, &PathBuf)| {
            let path = file.strip_prefix(session.project.root()).unwrap_or(file).display();
            format!("{path} {}", group.variant).trim_end().to_owned()
        };
        let run = |job: &(&Self, &PathBuf)| {
            begin(&name(job));
            job.0.run_file(job.1)
        };
        side_by_side::run(session, &jobs, at_once, name, run).map(Verdict::Counted)
    }

    /// A file may have no test for the current engine.
    fn run_file(&self, file: &Path) -> Result<Tally> {
        let mut runner = Command::new(self.runner.get_program());
        runner.args(self.runner.get_args()).arg(file);
        runner.envs(self.runner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        if let Some(directory) = self.runner.get_current_dir() {
            runner.current_dir(directory);
        }
        let Shown { status, output } = show(&mut runner, LIMIT)?;
        match status {
            Some(status) if status.success() && tally::node(&output) == Tally::default() => {
                Ok(Tally::default())
            }
            status => tally::of_run("node --test", status, tally::node(&output)),
        }
    }
}

/// The `*.test.mjs` files of a directory, in order.
pub(super) fn test_files(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = fs::read_dir(directory)
        .with_context(|| format!("cannot list {}", directory.display()))?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.to_string_lossy().ends_with(".test.mjs"))
        .collect();
    if files.is_empty() {
        bail!("{} has no *.test.mjs", directory.display());
    }
    files.sort();
    Ok(files)
}

/// Sets the paths of the programs that tests in a browser start.
pub(super) fn in_browser(session: &Session<'_>, runner: &mut Command) -> Result<()> {
    runner.env("TURNWIRE_GATEWAY", session.gateway()?);
    let browser = session.browser()?;
    runner.env("CHROME", &browser.chrome).env("CHROMEDRIVER", &browser.driver);
    Ok(())
}
