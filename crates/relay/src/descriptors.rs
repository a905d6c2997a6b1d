//! Open files: each connection is one, and the system limits them for each process.

use std::io;

use crate::config::Limits;
use crate::say::say;

/// What a relay has open besides connections: the log, the address, the runtime's own.
const OWN: usize = 100;

/// How many open files these limits may take. A stream may have a connection of its own on both sides; a turn without
/// readers and a held socket have one to the agent.
fn needed(limits: &Limits) -> u64 {
    (2 * limits.streams + limits.turns + limits.sockets + OWN) as u64
}

/// Takes as many open files as these limits need, and warns if the system allows fewer.
pub(crate) fn prepare(limits: &Limits) {
    if let Some(warning) = take(limits) {
        say(warning);
    }
}

/// Says why no connection can be accepted.
pub(crate) fn missing(error: &io::Error) {
    say(format_args!("no connection can be accepted, and those that wait for it are not answered: {error}"));
}

/// Many systems allow more than a process gets without asking.
#[cfg(unix)]
fn take(limits: &Limits) -> Option<String> {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).ok()?;
    // Some systems allow no number near the limit that they report.
    let wanted = hard.min(needed(limits).max(soft));
    let has = if setrlimit(Resource::RLIMIT_NOFILE, wanted, hard).is_ok() { wanted } else { soft };
    (has < needed(limits)).then(|| {
        format!(
            "this process may open {has} files, and `limits` may need {}: raise the system's limit (`ulimit -n`, systemd's `LimitNOFILE`), or lower `limits.streams`",
            needed(limits)
        )
    })
}

/// Other systems have no such limit for connections.
#[cfg(not(unix))]
fn take(_: &Limits) -> Option<String> {
    None
}
