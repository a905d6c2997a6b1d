//! Front ends written in Rust: the page in www/rust/, and the crate's classes for JavaScript.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::command::run;
use crate::progress::{begin, note};
use crate::project::{Project, cargo};
use crate::stamp::Stamp;
use crate::tools::{npm, rust};

/// The crate's sources.
const CRATE: [&str; 3] = ["src", "Cargo.toml", "Cargo.lock"];

/// Builds the page, and returns its folder.
pub(crate) fn build_page(project: &Project) -> Result<PathBuf> {
    let page = project.path("www/rust");
    let dist = page.join("dist");
    let mut stamp = Stamp::new(project, "rust-page")?
        .text(&rust::wasm_bindgen_version(project)?)
        .input(&page.join("src"))?
        .input(&page.join("Cargo.lock"))?
        .input(&page.join("Cargo.toml"))?
        .input(&page.join("index.html"))?
        .input(&page.join("style.css"))?
        .output(dist.join("index.html"));
    for input in CRATE {
        stamp = stamp.input(&project.path(input))?;
    }
    if stamp.is_current() {
        note("page: www/rust/dist/ is up to date");
        return Ok(dist);
    }
    stamp.clear();
    rust::ensure_wasm_target(project)?;
    let tools = rust::wasm_bindgen(project)?;
    let target = project.target().join("rust-page");
    begin("page: compiling the page in Rust (cargo, release)");
    run(cargo()
        .args(["build", "--quiet", "--release", "--locked", "--target", rust::WASM_TARGET])
        .env("CARGO_TARGET_DIR", &target)
        .current_dir(&page))?;
    let _ = fs::remove_dir_all(&dist);
    fs::create_dir_all(&dist).with_context(|| format!("cannot make {}", dist.display()))?;
    run(Command::new(tools.join("wasm-bindgen"))
        .args(["--target", "web", "--no-typescript", "--out-name", "turnwire-chat", "--out-dir"])
        .arg(&dist)
        .arg(target.join(rust::WASM_TARGET).join("release/turnwire-chat.wasm")))?;
    optimise(project, &dist.join("turnwire-chat_bg.wasm"))?;
    for file in ["style.css", "index.html"] {
        fs::copy(page.join(file), dist.join(file)).with_context(|| format!("cannot copy {file}"))?;
    }
    stamp.keep()?;
    Ok(dist)
}

/// Builds the classes as a user would, with wasm-pack, and returns their folder.
pub(crate) fn build_classes(project: &Project) -> Result<PathBuf> {
    let folder = project.scratch("")?.join("classes");
    let mut stamp = Stamp::new(project, "classes")?
        .text(&rust::wasm_bindgen_version(project)?)
        .output(folder.join("turnwire.js"));
    for input in CRATE {
        stamp = stamp.input(&project.path(input))?;
    }
    if stamp.is_current() {
        return Ok(folder);
    }
    stamp.clear();
    rust::ensure_wasm_target(project)?;
    begin("classes: compiling the crate's classes for JavaScript (wasm-pack)");
    let mut search = vec![rust::wasm_bindgen(project)?];
    search.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    run(Command::new(rust::wasm_pack()?.join("wasm-pack"))
        // wasm-pack would download its own optimiser.
        .args(["--quiet", "build", "--target", "web", "--mode", "no-install", "--no-opt", "--out-dir"])
        .arg(&folder)
        .args(["--features", "js-classes"])
        .env("PATH", env::join_paths(search).context("the PATH cannot be extended")?)
        .current_dir(project.root()))?;
    optimise(project, &folder.join("turnwire_bg.wasm"))?;
    stamp.keep()?;
    Ok(folder)
}

/// Makes a module small, in place.
fn optimise(project: &Project, module: &Path) -> Result<()> {
    npm::ci(project, "pkg", "which make modules small")?;
    // Features that today's compiler uses, and every supported engine has.
    let features =
        ["bulk-memory", "nontrapping-float-to-int", "sign-ext", "mutable-globals", "reference-types"];
    run(Command::new("node")
        .arg(project.path("pkg/node_modules/binaryen/bin/wasm-opt"))
        .args(["-Oz", "--strip-debug", "--strip-producers"])
        .args(features.map(|feature| format!("--enable-{feature}")))
        .args(["--enable-multivalue", "-o"])
        .arg(module)
        .arg(module))
}
