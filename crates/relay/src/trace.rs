//! What the log has acknowledged, for the checker (`tests/checker`): each append is a line of the file that an environment
//! variable names. Only builds with the feature `mutants` write it; in others this is nothing.

use crate::log::Claim;
use crate::turn::End;

/// The environment variable that names the file.
#[cfg(feature = "mutants")]
const FILE: &str = "TURNWIRE_RELAY_TRACE";

/// Notes that the log has acknowledged this many frames, the first of them at `first`, and this end.
#[cfg(feature = "mutants")]
pub(crate) fn acknowledged(claim: &Claim, first: u64, count: usize, end: Option<End>) {
    use std::fs::File;
    use std::io::Write;
    use std::sync::LazyLock;

    static TRACE: LazyLock<Option<File>> = LazyLock::new(|| {
        let path = std::env::var_os(FILE)?;
        Some(File::options().create(true).append(true).open(path).expect("the trace"))
    });
    let Some(mut trace) = TRACE.as_ref() else { return };
    let Claim { key, log, epoch } = claim;
    let turn = &key.turn;
    let line = serde_json::json!({
        "turn": turn, "log": log, "epoch": epoch, "first": first, "count": count, "end": end,
    });
    // The process may be killed at any time, and the disk may be full: what is left of a line is then one by itself.
    let _ = trace.write_all(format!("\n{line}\n").as_bytes());
}

#[cfg(not(feature = "mutants"))]
pub(crate) fn acknowledged(_: &Claim, _: u64, _: usize, _: Option<End>) {}
