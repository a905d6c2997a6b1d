//! Locations: the checkout, cargo's target directory, and the user's cache of tools.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::command::capture;

/// The paths that tasks work with.
#[derive(Debug)]
pub(crate) struct Project {
    root: PathBuf,
    target: PathBuf,
}

impl Project {
    /// Finds the checkout that this task runner belongs to, and asks cargo for its target directory.
    pub(crate) fn find() -> Result<Self> {
        let manifest = env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = manifest.ancestors().nth(2).context("xtask lies in no workspace")?.to_owned();
        let metadata =
            capture(cargo().args(["metadata", "--format-version=1", "--no-deps"]).current_dir(&root))?;
        let metadata: Value = serde_json::from_str(&metadata).context("cargo metadata printed no JSON")?;
        let target =
            metadata["target_directory"].as_str().context("cargo metadata names no target directory")?;
        Ok(Self { target: PathBuf::from(target), root })
    }

    /// The root of the checkout.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A path inside the checkout.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// Cargo's target directory.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// A directory for the tasks' own files under cargo's target directory, made when absent.
    pub(crate) fn scratch(&self, name: &str) -> Result<PathBuf> {
        let directory = self.target.join("xtask").join(name);
        fs::create_dir_all(&directory).with_context(|| format!("cannot make {}", directory.display()))?;
        Ok(directory)
    }
}

/// The cargo that started this task, so that the toolchain stays the same.
pub(crate) fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Tools and virtual environments are kept outside of the checkout, one directory per tool and
/// version, so that a fresh clone on the same machine does not build them again.
pub(crate) fn tool_cache(tool: &str, version: &str) -> Result<PathBuf> {
    let base = match env::var_os("XDG_CACHE_HOME").filter(|value| !value.is_empty()) {
        Some(directory) => PathBuf::from(directory),
        None => PathBuf::from(
            env::var_os("HOME")
                .context("neither XDG_CACHE_HOME nor HOME is set: set one, tools are kept there")?,
        )
        .join(".cache"),
    };
    Ok(base.join("turnwire").join(format!("{tool}-{version}")))
}
