//! LICENSES.md: the contents of the wasm modules, and their licences.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::command::capture;
use crate::project::{Project, cargo};
use crate::tools::rust;

const FILE: &str = "LICENSES.md";
const HEAD: &str = "# Licences of what is inside

turnwire itself is under the [MIT licence](LICENSE). Its WebAssembly modules are built from these crates, too, and from Rust's
standard library (MIT or Apache-2.0). So is the script inside `turnwire/nowasm`, which is made from a module. The other JavaScript has no
dependencies. `cargo xtask licences` writes this file.

| crate | licence | source |
|---|---|---|
";

/// What `cargo metadata` prints.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    license: Option<String>,
    license_file: Option<String>,
    repository: Option<String>,
    manifest_path: String,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<DependencyKind>,
}

#[derive(Deserialize)]
struct DependencyKind {
    /// None for crates that are compiled into the modules.
    kind: Option<String>,
}

/// Writes LICENSES.md.
pub(crate) fn write(project: &Project) -> Result<()> {
    fs::write(project.path(FILE), text(project)?).with_context(|| format!("{FILE} cannot be written"))
}

/// Fails if LICENSES.md does not list what the modules contain.
pub(crate) fn check(project: &Project) -> Result<()> {
    let written = fs::read_to_string(project.path(FILE)).with_context(|| format!("{FILE} cannot be read"))?;
    if written != text(project)? {
        bail!("{FILE} is out of date: `cargo xtask licences` writes it");
    }
    Ok(())
}

fn text(project: &Project) -> Result<String> {
    let mut text = HEAD.to_owned();
    for package in contained(project)? {
        let Package { name, license, license_file, repository, .. } = package;
        let licence = license.or(license_file).with_context(|| format!("{name} names no licence"))?;
        let _ = writeln!(
            text,
            "| {name} | {} | {} |",
            licence.replace('/', " OR "),
            repository.unwrap_or_default()
        );
    }
    Ok(text)
}

/// The crates that are compiled into the modules, by their names. The build can use each feature of the crate.
fn contained(project: &Project) -> Result<Vec<Package>> {
    let mut command = cargo();
    command.args(["metadata", "--format-version", "1", "--locked", "--all-features"]);
    command.args(["--filter-platform", rust::WASM_TARGET]).current_dir(project.root());
    let Metadata { packages, resolve } =
        serde_json::from_str(&capture(&mut command)?).context("cargo metadata printed something else")?;
    let mut packages: BTreeMap<String, Package> =
        packages.into_iter().map(|package| (package.id.clone(), package)).collect();
    let nodes: BTreeMap<&str, &Node> = resolve.nodes.iter().map(|node| (&*node.id, node)).collect();
    let root = project.path("Cargo.toml");
    let own = packages.values().find(|package| Path::new(&package.manifest_path) == root);
    let own = own.context("the crate is not among its own packages")?.id.clone();
    let mut reached = BTreeSet::new();
    let mut open = vec![&*own];
    while let Some(id) = open.pop() {
        let compiled = nodes[id].deps.iter().filter(|dependency| {
            let is_macro = packages[&dependency.pkg]
                .targets
                .iter()
                .any(|target| target.kind.iter().any(|kind| kind == "proc-macro"));
            !is_macro && dependency.dep_kinds.iter().any(|kind| kind.kind.is_none())
        });
        open.extend(
            compiled.map(|dependency| &*dependency.pkg).filter(|id| reached.insert((*id).to_owned())),
        );
    }
    let mut contained: Vec<Package> = reached.iter().filter_map(|id| packages.remove(id)).collect();
    contained.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(contained)
}
