//! `size`: the size of each part of the package and of pages' downloads, compared with the budget.

use std::fs;
use std::iter;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::Value;

use crate::command::{self, capture};
use crate::families::{EXTRAS, FAMILIES};
use crate::output::say;
use crate::package;
use crate::project::Project;

/// Files of the package beside those of the families; a `*` stands for any beginning of a name.
const PARTS: [&str; 4] = ["dist/face.js", "dist/face.cjs", "dist/slim.js", "dist/types/*.d.ts"];

/// Other files that pages load, without a core: the bindings of frameworks and the adapters for other packages, of
/// which a page has at most one, and the conversation.
const OTHERS: [&str; 8] =
    ["react", "vue", "svelte", "solid", "angular", "assistant-ui", "ai", "conversation"];

/// The bytes of one part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Weight {
    raw: u64,
    gzip: u64,
    brotli: u64,
}

/// What `cargo xtask size` takes.
#[derive(Debug, Default, Args)]
pub(crate) struct Options {
    /// Also list so many of each core's largest functions.
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    functions: u32,
}

/// Builds the package, prints the table, and fails past the budget.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    package::build(project)?;
    if options.functions > 0 {
        print_functions(project, options.functions)?;
    }
    print_table("part", &weigh(project, &parts())?);
    let pages = weigh_pages(project)?;
    print_table("page", &pages);
    let mut limited = pages;
    limited.extend(weigh(project, &OTHERS.map(|name| format!("dist/{name}.js")))?);
    check(&limited, &project.path("size-budget.json"))
}

fn print_functions(project: &Project, count: u32) -> Result<()> {
    let pkg = project.path("pkg");
    for family in &*FAMILIES {
        command::run(Command::new("node").args(["build.mjs", "names", family]).current_dir(&pkg))?;
        say(&format!("\n   bytes  function of the core of {family} (after wasm-opt, uncompressed)"));
        command::run(
            Command::new("node")
                .arg(project.path("crates/xtask/src/functions.mjs"))
                .arg(pkg.join("core").join(family).join("named.wasm"))
                .arg(count.to_string()),
        )?;
    }
    Ok(())
}

/// Node has the compressors that web servers use, so it measures the sizes.
fn weigh(project: &Project, parts: &[String]) -> Result<Vec<(String, Weight)>> {
    let pkg = project.path("pkg");
    let mut node = Command::new("node");
    node.arg(project.path("crates/xtask/src/weigh.mjs")).current_dir(&pkg);
    for part in parts {
        node.arg(files(&pkg, part)?.join(","));
    }
    let lines = capture(&mut node)?;
    let weights = lines.lines().map(parse).collect::<Option<Vec<_>>>();
    let weights = weights.context("weigh.mjs printed something else than sizes")?;
    let names = parts.iter().map(|part| part.trim_start_matches("dist/").to_owned());
    Ok(names.zip(weights).collect())
}

/// The parts that the table shows.
fn parts() -> Vec<String> {
    let of = |ending: &'static str| FAMILIES.iter().map(move |family| format!("dist/{family}{ending}"));
    let extras = EXTRAS.iter().map(|name| format!("dist/{name}.js"));
    let others = OTHERS.iter().map(|name| format!("dist/{name}.js"));
    iter::once("dist/core.wasm".to_owned())
        .chain(of("-core.js"))
        .chain(extras)
        .chain(others)
        .chain(PARTS.map(str::to_owned))
        .collect()
}

/// Pages' downloads, each file compressed separately: a page of each family, built in each way.
fn weigh_pages(project: &Project) -> Result<Vec<(String, Weight)>> {
    let lines = capture(Command::new("node").arg(project.path("tests/pages/weigh.mjs")))?;
    let page = |line: &str| {
        let (family, rest) = line.split_once(' ')?;
        let (way, sizes) = rest.split_once(' ')?;
        Some((format!("{family} {way}"), parse(sizes)?))
    };
    let pages = lines.lines().map(page).collect::<Option<_>>();
    pages.context("tests/pages/weigh.mjs printed something else than pages and sizes")
}

/// The files of a part, relative to the package, in a fixed order.
fn files(pkg: &Path, part: &str) -> Result<Vec<String>> {
    let Some((directory, ending)) = part.split_once('*') else {
        return Ok(vec![part.to_owned()]);
    };
    let mut files = Vec::new();
    let mut folders = vec![directory.trim_end_matches('/').to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(pkg.join(&folder)).with_context(|| format!("cannot list {part}"))? {
            let entry = entry?;
            let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if path.ends_with(ending) {
                files.push(path);
            }
        }
    }
    files.sort();
    if files.is_empty() {
        bail!("the package has no {part}");
    }
    Ok(files)
}

fn parse(line: &str) -> Option<Weight> {
    let mut numbers = line.split(' ').map(str::parse);
    let mut next = || numbers.next()?.ok();
    Some(Weight { raw: next()?, gzip: next()?, brotli: next()? })
}

fn print_table(what: &str, weights: &[(String, Weight)]) {
    say(&format!("\n{what:<20} {:>9} {:>9} {:>9}   bytes", "raw", "gzip 9", "brotli 11"));
    for (name, weight) in weights {
        let Weight { raw, gzip, brotli } = weight;
        say(&format!("{name:<20} {raw:>9} {gzip:>9} {brotli:>9}"));
    }
    say("");
}

/// The budget file maps each page, and each other file, to its most brotli bytes.
fn check(limited: &[(String, Weight)], file: &Path) -> Result<()> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let budget: Value = serde_json::from_str(&text).context("size-budget.json is no JSON")?;
    let mut over = Vec::new();
    for (name, weight) in limited {
        let limit = budget["brotli"][name].as_u64();
        let limit = limit.with_context(|| format!("size-budget.json has no number for `{name}`"))?;
        let used = weight.brotli;
        say(&format!("{name}: {used} of {limit} brotli bytes"));
        if used > limit {
            over.push(format!("{name} is {} bytes over its budget of {limit}", used - limit));
        }
    }
    if !over.is_empty() {
        bail!("{}: make it smaller, or change size-budget.json with a reason", over.join("; "));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_sizes_is_read() {
        assert_eq!(parse("30 20 10"), Some(Weight { raw: 30, gzip: 20, brotli: 10 }));
        assert_eq!(parse("30 20"), None);
    }
}
