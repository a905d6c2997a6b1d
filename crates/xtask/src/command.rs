//! Running other programs: plainly, for their output, or shown and kept at once.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::children::Running;
use crate::output::{self, say};

/// How long a command with captured output may take.
const LONGEST: Duration = Duration::from_mins(40);

/// Runs a command with its output shown; any exit code but 0 is an error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let line = describe(command);
    let status = if output::page().is_some() {
        show(command, LONGEST)?.status.with_context(|| format!("`{line}` did not end in time"))?
    } else {
        command.stdin(Stdio::null());
        Running::start(command)
            .and_then(|mut running| running.wait())
            .with_context(|| not_started(command))?
    };
    if !status.success() {
        bail!("`{line}` ended with {status}; its own output is above");
    }
    Ok(())
}

/// Runs a command and returns what it printed; any exit code but 0 is an error with its stderr.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output().with_context(|| not_started(command))?;
    if !output.status.success() {
        bail!(
            "`{}` ended with {}\n{}",
            describe(command),
            output.status,
            String::from_utf8_lossy(&output.stderr).trim_end()
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// How a shown run ended, and every line it printed, without colours.
#[derive(Debug)]
pub(crate) struct Shown {
    /// The exit status; `None` when the time limit ended the run.
    pub(crate) status: Option<ExitStatus>,
    /// stdout and stderr, in the order of arrival.
    pub(crate) output: String,
}

/// Runs a command, shows its output line by line, and keeps it to be read afterwards.
pub(crate) fn show(command: &mut Command, limit: Duration) -> Result<Shown> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if output::is_watched() {
        // Behind a pipe, runners produce colours only if they are told to.
        command.env("CARGO_TERM_COLOR", "always").env("FORCE_COLOR", "1");
    } else {
        command.env("NO_COLOR", "1");
    }
    let mut running = Running::start(command).with_context(|| not_started(command))?;
    let kept = Arc::new(Mutex::new(String::new()));
    let stdout = running.child().stdout.take().map(|pipe| follow(pipe, Arc::clone(&kept)));
    let stderr = running.child().stderr.take().map(|pipe| follow(pipe, Arc::clone(&kept)));
    let status = running.wait_at_most(limit)?;
    // A grandchild that keeps the pipe open must not block this process.
    running.sweep();
    for reader in [stdout, stderr].into_iter().flatten() {
        let _ = reader.join();
    }
    if status.is_none() {
        say(&format!("`{}` did not end within {} s and was ended", describe(command), limit.as_secs()));
    }
    let output = kept.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok(Shown { status, output })
}

fn follow(pipe: impl Read + Send + 'static, kept: Arc<Mutex<String>>) -> thread::JoinHandle<()> {
    let page = output::page();
    let keep = move || {
        for line in BufReader::new(pipe).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line);
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            say(&line);
            kept.push_str(&without_colours(&line));
            kept.push('\n');
        }
    };
    thread::spawn(move || output::onto(page, keep))
}

/// Drops terminal escape sequences (`ESC [ … letter`).
fn without_colours(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        if character == '\u{1b}' {
            characters.by_ref().find(char::is_ascii_alphabetic);
        } else {
            plain.push(character);
        }
    }
    plain
}

/// The command as it would be typed.
pub(crate) fn describe(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let mut line = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned();
    for argument in command.get_args() {
        line.push(' ');
        line.push_str(&argument.to_string_lossy());
    }
    line
}

fn not_started(command: &Command) -> String {
    format!("cannot start `{}`: is it installed and on the PATH?", command.get_program().to_string_lossy())
}

/// Whether a program of this name is found on the PATH.
pub(crate) fn on_path(program: &str) -> bool {
    find_on_path(program).is_some()
}

/// The file on the PATH for a program name.
pub(crate) fn find_on_path(program: &str) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(program)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::without_colours;

    #[test]
    fn colours_are_dropped_and_text_is_kept() {
        assert_eq!(without_colours("\u{1b}[32m✔ one\u{1b}[39m (2ms)"), "✔ one (2ms)");
        assert_eq!(without_colours("plain"), "plain");
    }
}
