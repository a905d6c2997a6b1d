//! Python packages in a virtual environment of their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::command::{capture, on_path, run};
use crate::progress::begin;
use crate::project::{Project, tool_cache};
use crate::stamp::Stamp;
use crate::tools::system;

/// The Python of a virtual environment that holds one package in one version.
pub(crate) fn with_package(package: &str, version: &str) -> Result<PathBuf> {
    let directory = tool_cache(package, version)?;
    let python = directory.join("bin/python3");
    let ready = directory.join("ready");
    if ready.is_file() && capture(Command::new(&python).arg("--version")).is_ok() {
        return Ok(python);
    }
    ensure_venv()?;
    begin(&format!("python: installing {package} {version} into {}", directory.display()));
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&directory))
        .context("python could not make a virtual environment")?;
    run(Command::new(&python)
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .arg(format!("{package}=={version}")))
    .with_context(|| format!("pip could not install {package} {version}; PyPI must be reachable"))?;
    fs::write(&ready, "").with_context(|| format!("cannot write {}", ready.display()))?;
    Ok(python)
}

/// Makes a directory a virtual environment that has what a file of requirements says.
pub(crate) fn environment(project: &Project, directory: &Path, requirements: &Path) -> Result<()> {
    let python = directory.join("bin/python3");
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    let stamp = Stamp::new(project, &format!("python-{name}"))?.input(requirements)?.output(python.clone());
    if stamp.is_current() {
        return Ok(());
    }
    ensure_venv()?;
    begin(&format!("python: installing {} into {}", requirements.display(), directory.display()));
    stamp.clear();
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(directory))
        .context("python could not make a virtual environment")?;
    run(Command::new(&python)
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"])
        .arg(requirements))
    .with_context(|| format!("pip could not install {}; PyPI must be reachable", requirements.display()))?;
    stamp.keep()
}

/// Debian keeps `venv` in a package of its own; `ensurepip` is the part that is missing then.
fn ensure_venv() -> Result<()> {
    let usable = || {
        on_path("python3") && capture(Command::new("python3").args(["-c", "import venv, ensurepip"])).is_ok()
    };
    if usable() {
        return Ok(());
    }
    let otherwise = "install python3 with its venv module (Debian: python3 and python3-venv)";
    system::install(&["python3", "python3-venv"], "to run the vendor's Python client", otherwise)?;
    if !usable() {
        bail!("python3 still has no venv module: {otherwise}");
    }
    Ok(())
}
