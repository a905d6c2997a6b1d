//! The workspace's own tests: compiled once, their programs then run side by side, since the long ones mostly wait.

use std::cmp::Reverse;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use serde::Deserialize;

use crate::command::{Shown, capture, run, show};
use crate::project::cargo;
use crate::test::session::{LIMIT, Session};
use crate::test::side_by_side;
use crate::test::tally::{self, Tally};
use crate::tools::{proxies, redis};

/// How many programs run at a time; each has as many threads as the machine has cores.
const AT_ONCE: usize = 3;

/// What `cargo test` compiles with, and which of the tests run.
#[derive(Debug, Default)]
pub(super) struct Tests<'a> {
    /// Which tests `cargo` compiles, beside the whole workspace's features: none means all.
    pub(super) options: &'a [&'a str],
    /// A part of the names of the tests that run; none means all.
    pub(super) filter: Option<&'a str>,
}

/// One line of cargo's messages: <https://doc.rust-lang.org/cargo/reference/external-tools.html#artifact-messages>.
#[derive(Debug, Deserialize)]
struct Artifact {
    executable: Option<PathBuf>,
    manifest_path: PathBuf,
    profile: Profile,
    target: Target,
}

#[derive(Debug, Deserialize)]
struct Profile {
    test: bool,
}

#[derive(Debug, Deserialize)]
struct Target {
    name: String,
}

/// A program with tests.
#[derive(Debug)]
struct Executable {
    program: PathBuf,
    /// Where cargo would start it: the folder of its package.
    package: PathBuf,
    target: String,
}

impl Executable {
    fn name(&self) -> String {
        format!("{} of {}", self.target, self.package.file_name().unwrap_or_default().to_string_lossy())
    }
}

impl Tests<'_> {
    /// Compiles them, runs them, and counts them.
    pub(super) fn run(&self, session: &Session<'_>) -> Result<Tally> {
        let cargo = |more: &[&str]| {
            let mut command = cargo();
            command
                .args(["test", "--workspace"])
                .args(self.options)
                .args(more)
                .current_dir(session.project.root());
            command
        };
        run(&mut cargo(&["--no-run"]))?;
        // What is compiled is listed at once. It is not known from the first run, whose lines are for people.
        let messages = capture(&mut cargo(&["--no-run", "--quiet", "--message-format=json"]))?;
        let mut programs = executables(&messages);
        // The largest have the most tests. What takes long begins early, so that it does not run last and alone.
        programs.sort_by_key(|Executable { program, .. }| {
            Reverse(fs::metadata(program).map_or(0, |file| file.len()))
        });
        side_by_side::run(session, &programs, AT_ONCE, Executable::name, |program| {
            self.play(session, program)
        })
    }

    /// A program may have no test, or none of that name.
    fn play(&self, session: &Session<'_>, Executable { program, package, .. }: &Executable) -> Result<Tally> {
        let mut command = Command::new(program);
        command.args(self.filter).current_dir(package).env("CARGO_MANIFEST_DIR", package);
        proxies::tell(&mut command)?;
        redis::tell_both(&mut command)?;
        let Shown { status, output } = show(session.scope.tell(&mut command), LIMIT)?;
        match status {
            Some(status) if status.success() && output.contains("test result: ok. 0 passed") => {
                Ok(Tally::default())
            }
            status => tally::of_run("a test program", status, tally::rust(&output)),
        }
    }
}

/// The examples in the documentation, which have no program of their own.
pub(super) fn documentation(session: &Session<'_>) -> Result<Tally> {
    let mut command = cargo();
    command.args(["test", "--workspace", "--doc"]).current_dir(session.project.root());
    let Shown { status, output } = show(session.scope.tell(&mut command), LIMIT)?;
    tally::of_run("cargo test --doc", status, tally::rust(&output))
}

/// The programs with tests that cargo's messages name.
fn executables(messages: &str) -> Vec<Executable> {
    let artifacts = messages.lines().filter_map(|line| serde_json::from_str::<Artifact>(line).ok());
    artifacts
        .filter(|artifact| artifact.profile.test)
        .filter_map(|Artifact { executable, manifest_path, target, .. }| {
            let package = manifest_path.parent().unwrap_or(Path::new("/")).to_path_buf();
            Some(Executable { program: executable?, package, target: target.name })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_programs_with_tests_are_run() {
        let messages = r#"{"reason":"compiler-artifact","manifest_path":"/w/relay/Cargo.toml","target":{"name":"relay"},"profile":{"test":false},"executable":"/w/target/relay"}
{"reason":"compiler-artifact","manifest_path":"/w/relay/Cargo.toml","target":{"name":"product"},"profile":{"test":true},"executable":"/w/target/deps/product-1"}
{"reason":"compiler-artifact","manifest_path":"/w/Cargo.toml","target":{"name":"turnwire"},"profile":{"test":false},"executable":null}
{"reason":"build-finished","success":true}
"#;
        let found = executables(messages);
        assert_eq!(found.iter().map(Executable::name).collect::<Vec<_>>(), ["product of relay"]);
        assert_eq!(found[0].program, Path::new("/w/target/deps/product-1"));
        assert_eq!(found[0].package, Path::new("/w/relay"));
    }
}
