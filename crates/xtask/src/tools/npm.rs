//! npm packages, installed from each directory's lock file.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::command::{capture, on_path, run};
use crate::progress::begin;
use crate::project::Project;
use crate::stamp::Stamp;

/// The oldest Node that the package and its tools run on.
const OLDEST_NODE: u32 = 20;

/// Makes `node_modules` of a directory (relative to the checkout) what its lock file says.
pub(crate) fn ci(project: &Project, directory: &str, why: &str) -> Result<()> {
    let _lock = super::installing();
    let path = project.path(directory);
    let stamp = Stamp::new(project, &format!("npm-{}", directory.replace('/', "-")))?
        .input(&path.join("package.json"))?
        .input(&path.join("package-lock.json"))?
        .output(path.join("node_modules/.package-lock.json"));
    if stamp.is_current() {
        return Ok(());
    }
    require_node()?;
    begin(&format!("npm: installing the packages of {directory}/, {why}"));
    stamp.clear();
    run(npm(&path).arg("ci")).with_context(|| {
        format!("npm could not install the packages of {directory}/; its registry must be reachable")
    })?;
    stamp.keep()
}

/// npm in a directory, without its advertisements.
pub(crate) fn npm(directory: &Path) -> Command {
    let mut npm = Command::new("npm");
    npm.current_dir(directory)
        .env("npm_config_fund", "false")
        .env("npm_config_audit", "false")
        .env("npm_config_update_notifier", "false")
        // Lock files name no download address: every machine uses its own registry.
        .env("npm_config_omit_lockfile_registry_resolved", "true");
    npm
}

/// Says what to do when Node is absent or too old.
pub(crate) fn require_node() -> Result<()> {
    if !on_path("node") || !on_path("npm") {
        bail!("node and npm are not on the PATH: install Node {OLDEST_NODE} or newer");
    }
    let version = capture(Command::new("node").arg("--version"))?;
    let major = version.trim().trim_start_matches('v').split('.').next().unwrap_or_default();
    if major.parse::<u32>().is_ok_and(|major| major >= OLDEST_NODE) {
        return Ok(());
    }
    bail!("node is {}, but Node {OLDEST_NODE} or newer is needed", version.trim());
}
