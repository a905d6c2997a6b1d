//! Packages of the operating system: installed on Debian-like systems as root, named otherwise.

use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::command::{capture, on_path, run};
use crate::progress::begin;

/// Installs packages with apt when that can be done without asking; `otherwise` says what a person
/// has to do on other systems.
pub(crate) fn install(packages: &[&str], why: &str, otherwise: &str) -> Result<()> {
    if !on_path("apt-get") || !is_root() {
        bail!("{} missing: {otherwise}", packages.join(" and "));
    }
    let _lock = super::installing();
    begin(&format!("system: installing {} with apt, {why}", packages.join(" and ")));
    run(apt().arg("update")).context("apt could not read its package lists")?;
    run(apt().args(["install", "-y", "--no-install-recommends"]).args(packages))
        .with_context(|| format!("apt could not install {}: {otherwise}", packages.join(" and ")))
}

fn apt() -> Command {
    let mut apt = Command::new("apt-get");
    apt.arg("-q").env("DEBIAN_FRONTEND", "noninteractive");
    apt
}

fn is_root() -> bool {
    capture(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}
