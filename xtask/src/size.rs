//! `size`: what each part of the package weighs, and whether the whole stays in its budget.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::Value;

use crate::command::{self, capture};
use crate::package;
use crate::project::Project;

/// The parts that the table shows: files of the package, with a `*` for any beginning of a name.
const PARTS: [&str; 12] = [
    "dist/core.wasm",
    "dist/agent-event.wasm",
    "dist/aap.wasm",
    "dist/turn-rpc.wasm",
    "dist/index.js",
    "dist/index.cjs",
    "dist/agent-event.js",
    "dist/aap.js",
    "dist/turn-rpc.js",
    "dist/slim.js",
    "dist/workerd.js",
    "dist/*.d.ts",
];

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
    let weights = weigh(project)?;
    print_table(&weights);
    check(&weights, &project.path("size-budget.json"))
}

fn print_functions(project: &Project, count: u32) -> Result<()> {
    let pkg = project.path("pkg");
    for family in package::FAMILIES {
        command::run(Command::new("node").args(["build.mjs", "names", family]).current_dir(&pkg))?;
        println!("\n   bytes  function of the core of {family} (after wasm-opt, uncompressed)");
        command::run(
            Command::new("node")
                .arg(project.path("xtask/src/functions.mjs"))
                .arg(pkg.join("core").join(family).join("named.wasm"))
                .arg(count.to_string()),
        )?;
    }
    Ok(())
}

/// Node has the compressors that web servers use, so it does the weighing.
fn weigh(project: &Project) -> Result<Vec<(&'static str, Weight)>> {
    let pkg = project.path("pkg");
    let mut node = Command::new("node");
    node.arg(project.path("xtask/src/weigh.mjs")).current_dir(&pkg);
    for part in PARTS {
        node.arg(files(&pkg, part)?.join(","));
    }
    let lines = capture(&mut node)?;
    let weights = lines.lines().map(parse).collect::<Option<Vec<_>>>();
    let weights = weights.context("weigh.mjs printed something else than sizes")?;
    Ok(PARTS.into_iter().zip(weights).collect())
}

/// The files of a part, relative to the package, in a fixed order.
fn files(pkg: &Path, part: &str) -> Result<Vec<String>> {
    let Some((directory, ending)) = part.split_once('*') else {
        return Ok(vec![part.to_owned()]);
    };
    let mut files = Vec::new();
    for entry in fs::read_dir(pkg.join(directory)).with_context(|| format!("cannot list {part}"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(ending) {
            files.push(format!("{directory}{name}"));
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

fn print_table(weights: &[(&str, Weight)]) {
    println!("\n{:<18} {:>9} {:>9} {:>9}   bytes", "part", "raw", "gzip 9", "brotli 11");
    for (part, weight) in weights {
        let Weight { raw, gzip, brotli } = weight;
        println!("{:<18} {raw:>9} {gzip:>9} {brotli:>9}", part.trim_start_matches("dist/"));
    }
    println!();
}

/// The budget file maps a part to its most brotli bytes.
fn check(weights: &[(&str, Weight)], file: &Path) -> Result<()> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let budget: Value = serde_json::from_str(&text).context("size-budget.json is no JSON")?;
    let limits = budget["brotli"].as_object().context("size-budget.json has no \"brotli\" object")?;
    let mut over = Vec::new();
    for (part, limit) in limits {
        let limit = limit.as_u64().with_context(|| format!("the budget of {part} is no number"))?;
        let (_, weight) = weights
            .iter()
            .find(|(name, _)| name == part)
            .with_context(|| format!("size-budget.json names {part}, which is not measured"))?;
        let used = weight.brotli;
        println!("{part}: {used} of {limit} brotli bytes");
        if used > limit {
            over.push(format!("{part} is {} bytes over its budget of {limit}", used - limit));
        }
    }
    if limits.is_empty() {
        bail!("size-budget.json limits nothing");
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
