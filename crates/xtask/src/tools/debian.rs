//! Servers from Debian's packages, unpacked without installing them: installed ones would run at once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::command::{capture, run};
use crate::progress::begin;
use crate::project::tool_cache;

/// The program at this place of unpacked packages, which are fetched if it is missing or fails when asked with `flag` to say something
/// of itself. `complete` adds what else it needs to run, in the directory where they are.
pub(super) fn unpacked(
    name: &str,
    packages: &[&str],
    (place, flag): (&str, &str),
    complete: impl Fn(&Path) -> Result<()>,
) -> Result<PathBuf> {
    let _lock = super::installing();
    let directory = tool_cache(name, "debian")?;
    let program = directory.join(place);
    if program.is_file() && capture(Command::new(&program).arg(flag)).is_ok() {
        return Ok(program);
    }
    fs::create_dir_all(&directory).with_context(|| format!("cannot make {}", directory.display()))?;
    begin(&format!("{name}: fetching {} into {}", packages.join(", "), directory.display()));
    let download =
        || run(Command::new("apt-get").args(["-q", "download"]).args(packages).current_dir(&directory));
    // A fresh machine has no lists of packages, or old ones.
    download()
        .or_else(|_| run(Command::new("apt-get").args(["-q", "update"])).and_then(|()| download()))
        .with_context(|| format!("apt could not fetch {name}: install it"))?;
    for entry in directory.read_dir().context("the cache cannot be read")? {
        let path = entry.context("the cache cannot be read")?.path();
        if path.extension().is_some_and(|extension| extension == "deb") {
            run(Command::new("dpkg").arg("-x").arg(&path).arg(&directory))?;
        }
    }
    complete(&directory)?;
    Ok(program)
}
