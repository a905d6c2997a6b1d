//! The proxies that stand in front of a relay: taken from Debian's packages without installing them, since installed ones
//! would run at once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::command::{capture, on_path, run};
use crate::progress::begin;
use crate::project::tool_cache;

/// By the variable that names it to the tests: the package, and where it has its program.
const PROXIES: [(&str, &str, &str); 2] =
    [("TURNWIRE_NGINX", "nginx", "usr/sbin/nginx"), ("TURNWIRE_CADDY", "caddy", "usr/bin/caddy")];

/// Tells a command where the proxies are, which are fetched if they are missing. On systems without apt they must be
/// installed; the tests that need them say so.
pub(crate) fn tell(command: &mut Command) -> Result<()> {
    for (variable, package, place) in PROXIES {
        if !on_path(package) && on_path("apt-get") {
            command.env(variable, fetched(package, place)?);
        }
    }
    Ok(())
}

fn fetched(package: &str, place: &str) -> Result<PathBuf> {
    let _lock = super::installing();
    let directory = tool_cache(package, "debian")?;
    let program = directory.join(place);
    if is_usable(&program) {
        return Ok(program);
    }
    fs::create_dir_all(&directory).with_context(|| format!("cannot make {}", directory.display()))?;
    begin(&format!("proxies: fetching {package} into {}", directory.display()));
    let download = || run(Command::new("apt-get").args(["-q", "download", package]).current_dir(&directory));
    // A fresh machine has no lists of packages, or old ones.
    download()
        .or_else(|_| run(Command::new("apt-get").args(["-q", "update"])).and_then(|()| download()))
        .with_context(|| format!("apt could not fetch {package}: install it"))?;
    for entry in directory.read_dir().context("the cache cannot be read")? {
        let path = entry.context("the cache cannot be read")?.path();
        if path.extension().is_some_and(|extension| extension == "deb") {
            run(Command::new("dpkg").arg("-x").arg(&path).arg(&directory))?;
        }
    }
    Ok(program)
}

fn is_usable(program: &Path) -> bool {
    program.is_file() && capture(Command::new(program).arg("-h")).is_ok()
}
