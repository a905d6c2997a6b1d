//! `build`: makes the npm package in `pkg/`, step by step; a step whose inputs have not changed
//! since its last good run is skipped.

use std::fs::{self, File};
use std::iter;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::command::run;
use crate::families::{FAMILIES, WHOLE};
use crate::progress::{begin, note};
use crate::project::{Project, cargo};
use crate::stamp::Stamp;
use crate::tools::{npm, rust};

/// The sources of a core, relative to the checkout.
const COMPILED: [&str; 5] = ["src", "Cargo.toml", "Cargo.lock", "rust-toolchain.toml", ".cargo"];

/// The declarations of a core's exports.
const EXPORTS: &str = "core_bg.wasm.d.ts";

/// The parts of a core's folder that go into the bundles; the core of all families has no text.
const CORE: [&str; 4] = ["core.d.ts", "core_bg.wasm", EXPORTS, "inline.js"];

/// The entries besides the families.
const ENTRIES: [&str; 3] = ["index", "slim", "conversation"];

/// The other inputs of the bundles, relative to the package.
const BUNDLED: [&str; 8] = [
    "src",
    "build.mjs",
    "entries.mjs",
    "families.json",
    "maps.mjs",
    "package.json",
    "package-lock.json",
    "tsconfig.json",
];

/// The tools that make a core small, and those that write its text, relative to the checkout.
const PACKED_BY: [&str; 4] = ["pkg/build.mjs", "pkg/package-lock.json", "pkg/script.mjs", PACKING];

/// The form of the texts, and what reads them in a page.
const PACKING: &str = "crates/packing";

/// The text of what reads them, in `pkg/core/`.
const UNPACKER: &str = "unpacker.js";

/// The most bytes of its stack.
const UNPACKER_STACK: &str = "-Clink-arg=-zstack-size=65536";

/// Builds the package; afterwards `pkg/` can be packed, imported and required.
pub(crate) fn build(project: &Project) -> Result<()> {
    let _lock = lock(project)?;
    rust::ensure_wasm_target(project)?;
    npm::ci(project, "pkg", "which optimise the module and bundle the package")?;
    for stage in ["sources", "documents"] {
        run(Command::new("node").args(["build.mjs", stage]).current_dir(project.path("pkg")))?;
    }
    let mut core_changed = unpacker(project)?;
    for family in cores() {
        let module = compile(project, family)?;
        core_changed |= bind_and_optimise(project, family, &module)?;
    }
    let dist_changed = bundle(project)?;
    note(if core_changed || dist_changed { "package: pkg/ is built" } else { "package: pkg/ is up to date" });
    Ok(())
}

/// The cores, in the order in which they are made.
fn cores() -> impl Iterator<Item = &'static str> {
    iter::once(WHOLE).chain(FAMILIES.iter().map(String::as_str))
}

/// Two builds at once would write the same files; the second one waits.
fn lock(project: &Project) -> Result<File> {
    let path = project.scratch("")?.join("build.lock");
    let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    if file.try_lock().is_err() {
        begin("package: another build of this checkout is running; waiting for it to end");
        file.lock().with_context(|| format!("cannot lock {}", path.display()))?;
    }
    Ok(file)
}

/// Compiles Rust to wasm, with the protocols of one family or of all; returns the module's file. It compiles only a
/// `cdylib`: beside an `rlib`, which the manifest also asks for, the compiler does not optimise across crates
/// (measured: 1,850 brotli bytes).
///
/// Cargo has one place for a package's `cdylib`, whatever its features, so each core is copied from there. Without a
/// stamp, every build would compile all of them again. Their dependencies are compiled once.
fn compile(project: &Project, family: &str) -> Result<PathBuf> {
    let module = project.scratch("cores")?.join(format!("{family}.wasm"));
    let flags = flags(project, &[])?;
    let mut stamp = Stamp::new(project, &format!("compile-{family}"))?.text(&flags).output(module.clone());
    for input in COMPILED {
        stamp = stamp.input(&project.path(input))?;
    }
    if stamp.is_current() {
        return Ok(module);
    }
    stamp.clear();
    begin(&format!("core: compiling the core of {family} to WebAssembly (cargo, release)"));
    run(cargo()
        .args(["rustc", "--quiet", "--release", "--lib", "--package", "turnwire", "--crate-type", "cdylib"])
        .args(["--target", rust::WASM_TARGET, "--no-default-features", "--features"])
        .arg(format!("module,{}", if family == WHOLE { FAMILIES.join(",") } else { family.to_owned() }))
        .arg("--config")
        .arg(format!("target.{}.rustflags={flags}", rust::WASM_TARGET))
        .current_dir(project.root()))?;
    take(project, "turnwire", &module)?;
    stamp.keep()?;
    Ok(module)
}

/// Copies the module that was made of a package.
fn take(project: &Project, name: &str, to: &Path) -> Result<()> {
    let compiled = project.target().join(rust::WASM_TARGET).join("release").join(name).with_extension("wasm");
    fs::copy(&compiled, to).with_context(|| format!("cannot copy {}", compiled.display()))?;
    Ok(())
}

/// The code that unpacks the cores, in `pkg/core/`. It is a module itself, since engines are slow with a script that
/// runs once.
fn unpacker(project: &Project) -> Result<bool> {
    let core = project.path("pkg/core");
    let flags = flags(project, &[UNPACKER_STACK])?;
    let mut stamp = Stamp::new(project, "unpacker")?.text(&flags).output(core.join(UNPACKER));
    for input in COMPILED.iter().chain(&PACKED_BY).filter(|input| **input != "src") {
        stamp = stamp.input(&project.path(input))?;
    }
    if stamp.is_current() {
        return Ok(false);
    }
    stamp.clear();
    begin("core: compiling what unpacks the cores");
    fs::create_dir_all(&core)?;
    run(cargo()
        .args([
            "rustc",
            "--quiet",
            "--release",
            "--lib",
            "--package",
            "turnwire-packing",
            "--crate-type",
            "cdylib",
        ])
        .args(["--target", rust::WASM_TARGET, "--config"])
        .arg(format!("target.{}.rustflags={flags}", rust::WASM_TARGET))
        .current_dir(project.root()))?;
    take(project, "turnwire_packing", &core.join("unpacker.wasm"))?;
    run(Command::new("node").args(["build.mjs", "unpacker"]).current_dir(project.path("pkg")))?;
    stamp.keep()?;
    Ok(true)
}

/// Writes a core's text.
fn inline(core: &Path) -> Result<()> {
    let path = core.join("core_bg.wasm");
    let module = turnwire_packing::aligned(&fs::read(&path)?)?;
    fs::write(&path, &module)?;
    let text = serde_json::to_string(&turnwire_packing::pack(&module)?)?;
    fs::write(core.join("inline.js"), format!("export const packed = {text};\n"))?;
    let declaration =
        "/** The module as text; `unpack` makes it of that. */\nexport declare const packed: string;\n";
    fs::write(core.join("inline.d.ts"), declaration).context("cannot write the text of a core")
}

/// Flags of the compiler, as a TOML list: to inline by the size that suits compressed modules (measured: with 5
/// they are 0 to 400 brotli bytes smaller than with 0 or 8, and as fast: engines inline what is hot), and not to
/// repeat loads on other paths only to spare one (100 bytes); and the module, which holds the places where it could panic, names
/// files as they are called in their crate, and no directory of this machine.
fn flags(project: &Project, own: &[&str]) -> Result<String> {
    let mut directories = rust::package_sources()?;
    directories.push(rust::sysroot(project)?.join("lib/rustlib/src/rust/library"));
    let remap = |directory: &PathBuf| format!("--remap-path-prefix={}=", directory.join("").display());
    let mut flags: Vec<_> = directories.iter().map(remap).collect();
    flags.push("-Cllvm-args=-inline-threshold=5 -enable-load-pre=false".to_owned());
    flags.extend(own.iter().copied().map(str::to_owned));
    serde_json::to_string(&flags).context("paths are text")
}

/// The bindings, then the optimised module and its inlined form, all in the family's folder in `pkg/core/`.
fn bind_and_optimise(project: &Project, family: &str, module: &Path) -> Result<bool> {
    let pkg = project.path("pkg");
    let core = pkg.join("core").join(family);
    let mut stamp = Stamp::new(project, &format!("core-{family}"))?
        .text(&rust::wasm_bindgen_version(project)?)
        .input(module)?
        .output(core.join("core.js"))
        .output(core.join("core.d.ts"))
        .output(core.join("core_bg.wasm"))
        .output(core.join("raw.wasm"));
    if family != WHOLE {
        stamp = stamp.input(&pkg.join("core").join(WHOLE).join(EXPORTS))?.output(core.join("inline.js"));
    }
    for input in PACKED_BY {
        stamp = stamp.input(&project.path(input))?;
    }
    if stamp.is_current() {
        return Ok(false);
    }
    let tools = rust::wasm_bindgen(project)?;
    stamp.clear();
    // wasm-bindgen leaves what it wrote for earlier snippets.
    let _ = fs::remove_dir_all(&core);
    begin(&format!("core: writing the JavaScript side of the core of {family} (wasm-bindgen)"));
    // Without a default path the glue has no `new URL(…, import.meta.url)`, which bundlers and
    // plain scripts resolve each in their own way, and some not at all.
    run(Command::new(tools.join("wasm-bindgen"))
        .args(["--target", "web", "--omit-default-module-path", "--out-name", "core", "--out-dir"])
        .arg(&core)
        .arg(module))?;
    begin("core: making the module small (binaryen), compiling it as a check, inlining it");
    run(Command::new("node").args(["build.mjs", "core", family]).current_dir(&pkg))?;
    if family != WHOLE {
        inline(&core)?;
    }
    stamp.keep()?;
    Ok(true)
}

/// The bundles and their types, in `pkg/dist/`.
fn bundle(project: &Project) -> Result<bool> {
    let pkg = project.path("pkg");
    let dist = pkg.join("dist");
    let mut stamp = Stamp::new(project, "dist")?;
    for input in BUNDLED {
        stamp = stamp.input(&pkg.join(input))?;
    }
    stamp = stamp.input(&pkg.join("core").join(UNPACKER))?;
    for family in cores() {
        for input in CORE.iter().filter(|input| family != WHOLE || **input != "inline.js") {
            stamp = stamp.input(&pkg.join("core").join(family).join(input))?;
        }
    }
    let types = |name: &str| {
        if ENTRIES.contains(&name) { name.to_owned() } else { format!("families/{name}") }
    };
    for entry in ENTRIES.into_iter().chain(FAMILIES.iter().map(String::as_str)) {
        for extension in ["js", "cjs"] {
            stamp = stamp.output(dist.join(format!("{entry}.{extension}")));
        }
        for extension in ["d.ts", "d.cts"] {
            stamp = stamp.output(dist.join(format!("types/entries/{}.{extension}", types(entry))));
        }
    }
    for file in ["face.js", "face.cjs", "workerd.js", "core.wasm"] {
        stamp = stamp.output(dist.join(file));
    }
    for family in &*FAMILIES {
        stamp = stamp.output(dist.join(format!("{family}-core.js")));
    }
    if stamp.is_current() {
        return Ok(false);
    }
    stamp.clear();
    begin("package: bundling the entries and writing their types (esbuild, tsc)");
    run(Command::new("node").args(["build.mjs", "dist"]).current_dir(&pkg))?;
    stamp.keep()?;
    Ok(true)
}
