//! The npm package as npm would publish it: a tarball.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::command::capture;
use crate::project::Project;
use crate::tools::npm;

/// A packed package.
#[derive(Debug)]
pub(crate) struct Tarball {
    /// The file.
    pub(crate) path: PathBuf,
    /// The bytes that npm downloads.
    pub(crate) packed: u64,
    /// The bytes of its files.
    pub(crate) unpacked: u64,
}

/// What `npm pack --json` prints of a package.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Packed {
    filename: String,
    size: u64,
    unpacked_size: u64,
}

/// Packs the package, which must be built.
pub(crate) fn pack(project: &Project) -> Result<Tarball> {
    let directory = project.scratch("tarball")?;
    let mut command = npm::npm(&project.path("pkg"));
    let printed = capture(command.args(["pack", "--json", "--pack-destination"]).arg(&directory))?;
    let [packed]: [Packed; 1] = serde_json::from_str(&printed).context("npm pack printed something else")?;
    Ok(Tarball { path: directory.join(packed.filename), packed: packed.size, unpacked: packed.unpacked_size })
}
