//! `fuzz`: random inputs for the decoders, from libFuzzer. Where that cannot be built, and in a quick run of all tests,
//! the inputs are blind changes of the same seeds.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::children::Running;
use crate::command::{on_path, run as run_shown};
use crate::output::say;
use crate::progress::{begin, note};
use crate::project::{Project, cargo};
use crate::test::tally::Tally;
use crate::tools::rust;

/// Longer inputs make slow runs and find nothing more.
const LONGEST: u32 = 4096;
/// How long a target may exceed its time, for its last input and its report.
const GRACE: Duration = Duration::from_mins(1);
/// How much of a failed run's log is shown, in lines.
const SHOWN: usize = 20;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The target; all of them, one after the other, if none is named.
    target: Option<String>,
    /// How long each target runs.
    #[arg(long, value_name = "MINUTES", default_value_t = 1.0)]
    minutes: f64,
    /// Run the target on this input only, such as one that it failed on.
    #[arg(long, value_name = "FILE", requires = "target")]
    input: Option<PathBuf>,
}

/// Runs the chosen targets and fails when one of them has found something.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let all = targets(project)?;
    let chosen = match &options.target {
        Some(name) if !all.contains(name) => bail!("there is no target {name}; there are {}", all.join(", ")),
        Some(name) => vec![name.clone()],
        None => all,
    };
    if let (Some(name), Some(input)) = (&options.target, &options.input) {
        return run_shown(Command::new(rehearsal(project)?).args(["replay", name]).arg(input));
    }
    let time = Duration::try_from_secs_f64(options.minutes * 60.0).context("--minutes must be a time")?;
    match run_each(project, &chosen, prepare(project)?.as_deref(), time)?.failed {
        0 => Ok(()),
        failed => bail!("{failed} target(s) failed; see above"),
    }
}

/// Runs every target for this long, with libFuzzer or with blind changes, which take far less to compile; each counts
/// as one test.
pub(crate) fn run_all(project: &Project, time: Duration, is_blind: bool) -> Result<Tally> {
    let programs = if is_blind { None } else { prepare(project)? };
    run_each(project, &targets(project)?, programs.as_deref(), time)
}

fn run_each(project: &Project, targets: &[String], programs: Option<&Path>, time: Duration) -> Result<Tally> {
    let mut tally = Tally::default();
    let blind = if programs.is_none() { Some(rehearsal(project)?) } else { None };
    for name in targets {
        begin(&format!("fuzz: {name}, for {} s", time.as_secs()));
        let ended = match (programs, &blind) {
            (Some(programs), _) => fuzz(project, &programs.join(name), name, time),
            (None, Some(blind)) => {
                run_shown(Command::new(blind).args(["run", name, &time.as_secs().to_string()]))
            }
            (None, None) => bail!("there is no program to run it"),
        };
        match ended {
            Ok(()) => tally.passed += 1,
            Err(error) => {
                say(&format!("\nfuzz: {name} failed: {error:#}"));
                tally.failed += 1;
            }
        }
    }
    Ok(tally)
}

/// The targets are the files of libFuzzer's entry points.
fn targets(project: &Project) -> Result<Vec<String>> {
    let directory = project.path("crates/fuzz/fuzz_targets");
    let mut names = Vec::new();
    for entry in fs::read_dir(&directory).with_context(|| format!("cannot list {}", directory.display()))? {
        let path = entry?.path();
        names.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
    }
    names.sort();
    Ok(names)
}

/// Builds the targets for libFuzzer. Returns the directory of their programs; `None` where libFuzzer is not available.
fn prepare(project: &Project) -> Result<Option<PathBuf>> {
    let tool = match cargo_fuzz() {
        Ok(tool) => tool,
        Err(error) => {
            note(&format!("fuzz: no libFuzzer: {error:#}"));
            note("fuzz: instead, each target runs on its seeds and on random changes of them");
            return Ok(None);
        }
    };
    begin("fuzz: compiling the targets with coverage for libFuzzer");
    let host = rust::host(project)?;
    let directory = project.target().join("fuzz");
    let profile = |(name, value)| (format!("CARGO_PROFILE_RELEASE_{name}"), value);
    run_shown(
        Command::new(tool)
            // No sanitizer: that needs an unstable compiler, and finds faults of unsafe code, of which there is none.
            // The targets find panics and overflows.
            .args(["fuzz", "build", "--features", "libfuzzer", "--sanitizer", "none", "--target", &host])
            .arg("--target-dir")
            .arg(&directory)
            .arg("--fuzz-dir")
            .arg(project.path("crates/fuzz"))
            // Releases of the workspace are built for size. Here a violated assumption must be a finding, even where it
            // would otherwise go unnoticed.
            .envs(
                [("OPT_LEVEL", "3"), ("LTO", "off"), ("CODEGEN_UNITS", "16"), ("PANIC", "unwind")]
                    .map(profile),
            )
            .envs([("DEBUG", "line-tables-only"), ("STRIP", "none")].map(profile))
            .envs([("DEBUG_ASSERTIONS", "true"), ("OVERFLOW_CHECKS", "true")].map(profile))
            .current_dir(project.root()),
    )?;
    Ok(Some(directory.join(host).join("release")))
}

/// libFuzzer is C++, which the targets are linked with.
fn cargo_fuzz() -> Result<PathBuf> {
    let compilers = ["c++", "g++", "clang++"];
    if std::env::var_os("CXX").is_none() && !compilers.iter().any(|name| on_path(name)) {
        bail!("there is no C++ compiler ({})", compilers.join(", "));
    }
    Ok(rust::cargo_fuzz()?.join("cargo-fuzz"))
}

/// Runs a target with libFuzzer. Its output goes to a log, and a failure shows the end of the log.
fn fuzz(project: &Project, program: &Path, name: &str, time: Duration) -> Result<()> {
    let log = project.scratch("fuzz")?.join(format!("{name}.log"));
    let output = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    let seeds = project.scratch(&format!("fuzz/seeds/{name}"))?;
    let mut command = Command::new(program);
    command
        .arg(project.scratch(&format!("fuzz/corpus/{name}"))?)
        .arg(&seeds)
        .env("SEEDS", &seeds)
        .env("RUST_BACKTRACE", "0")
        .args(["-print_final_stats=1", "-timeout=10"])
        .arg(format!("-max_total_time={}", time.as_secs()))
        .arg(format!("-max_len={LONGEST}"))
        .arg(format!("-artifact_prefix={}/{name}-", project.scratch("fuzz/findings")?.display()))
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output);
    let status = Running::start(&mut command)?.wait_at_most(time + GRACE)?;
    let said = fs::read(&log).with_context(|| format!("cannot read {}", log.display()))?;
    let said = String::from_utf8_lossy(&said);
    match status {
        Some(status) if status.success() => {
            note(&format!("fuzz: {name}: {}", summary(&said)));
            Ok(())
        }
        other => {
            say(&finding(&said));
            let how = other.map_or("did not end in time".to_owned(), |status| format!("ended with {status}"));
            let input = said.lines().find_map(|line| line.split_once("Test unit written to "));
            let input = input.map_or("FILE", |(_, input)| input);
            bail!("it {how}; see {}; `cargo xtask fuzz {name} --input {input}` runs it again", log.display())
        }
    }
}

/// A log's failure report, from its first line on; the log's end if it has none.
fn finding(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    let first = lines.iter().position(|line| line.contains(" panicked at ") || line.contains("ERROR: "));
    let from = first.unwrap_or(lines.len().saturating_sub(SHOWN));
    lines.get(from..).unwrap_or_default().iter().take(SHOWN).copied().collect::<Vec<_>>().join("\n")
}

/// The amount of work in libFuzzer's own words: inputs, and the code that they have reached.
fn summary(log: &str) -> String {
    let mut lines = log.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let words = lines.rfind(|words| words.get(1) == Some(&"DONE")).unwrap_or_default();
    let after = |name: &str| words.iter().skip_while(|word| **word != name).nth(1).copied().unwrap_or("?");
    let inputs = words.first().map_or("?", |count| count.trim_start_matches('#'));
    format!(
        "{inputs} inputs, coverage {}, features {}, corpus {}",
        after("cov:"),
        after("ft:"),
        after("corp:")
    )
}

/// Compiles the targets without libFuzzer, and everything else as for the workspace's tests, which is quick. Returns
/// the program.
fn rehearsal(project: &Project) -> Result<PathBuf> {
    let build = ["build", "--quiet", "--workspace", "--example", "rehearse"];
    run_shown(cargo().args(build).current_dir(project.root()))?;
    Ok(project.target().join("debug/examples").join(format!("rehearse{}", std::env::consts::EXE_SUFFIX)))
}

#[cfg(test)]
mod tests {
    use super::{finding, summary};

    #[test]
    fn a_failure_is_shown_from_its_message_on() {
        let log =
            "#2\tINITED cov: 5\nthread 'a' (7) panicked at src/sse.rs:40:5:\nassertion failed\nnote: b\n";
        assert_eq!(finding(log), "thread 'a' (7) panicked at src/sse.rs:40:5:\nassertion failed\nnote: b");
        assert_eq!(finding("a\nb\n"), "a\nb");
    }

    #[test]
    fn the_last_line_of_a_run_says_how_much_was_tried() {
        let log = "#12\tNEW    cov: 5 ft: 9 corp: 3/20b lim: 4 exec/s: 0\n\
                   #1042\tDONE   cov: 549 ft: 2572 corp: 402/342Kb lim: 6327 exec/s: 3491 rss: 30Mb\n\
                   Done 1042 runs in 16 second(s)\n";
        assert_eq!(summary(log), "1042 inputs, coverage 549, features 2572, corpus 402/342Kb");
    }
}
