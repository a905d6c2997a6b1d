//! Rust tools: the wasm target of the toolchain, and programs from crates.io.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::command::{capture, run};
use crate::progress::{begin, note};
use crate::project::{Project, cargo, tool_cache};

/// The target that browsers run.
pub(crate) const WASM_TARGET: &str = "wasm32-unknown-unknown";

/// Adds the wasm target to the toolchain when it is missing. `rust-toolchain.toml` names it, but
/// rustup does not act on that where its automatic installation is switched off.
pub(crate) fn ensure_wasm_target(project: &Project) -> Result<()> {
    let _lock = super::installing();
    if sysroot(project)?.join("lib/rustlib").join(WASM_TARGET).is_dir() {
        return Ok(());
    }
    begin(&format!("toolchain: adding the target {WASM_TARGET}, which the browser core is built for"));
    run(Command::new("rustup").args(["target", "add", WASM_TARGET]).current_dir(project.root())).with_context(
        || {
            format!(
                "the compiler has no {WASM_TARGET}; with rustup: `rustup target add {WASM_TARGET}`, \
                 otherwise install your distribution's package of it"
            )
        },
    )
}

/// The target that this machine's programs are built for.
pub(crate) fn host(project: &Project) -> Result<String> {
    let about = capture(Command::new("rustc").arg("-vV").current_dir(project.root()))?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc names no host")?.to_owned())
}

/// Where the toolchain of this checkout lies.
pub(crate) fn sysroot(project: &Project) -> Result<PathBuf> {
    let path = capture(Command::new("rustc").args(["--print", "sysroot"]).current_dir(project.root()))?;
    Ok(PathBuf::from(path.trim()))
}

/// The directories in which cargo keeps the sources of packages, one for each registry.
pub(crate) fn package_sources() -> Result<Vec<PathBuf>> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| env::home_dir().map(|home| home.join(".cargo")));
    let sources = home.context("there is no home directory")?.join("registry/src");
    let Ok(entries) = fs::read_dir(sources) else {
        return Ok(Vec::new());
    };
    entries.map(|entry| Ok(entry?.path())).collect()
}

/// The directory with `wasm-bindgen` and `wasm-bindgen-test-runner`, of exactly the version that
/// Cargo.lock has: the two halves of the binding must come from the same release.
pub(crate) fn wasm_bindgen(project: &Project) -> Result<PathBuf> {
    let version = locked_version(project, "wasm-bindgen")?;
    installed(&Program {
        package: "wasm-bindgen-cli",
        version: &version,
        binary: "wasm-bindgen",
        why: "writes the JavaScript side of the core",
        takes: "one to three minutes",
        // The release's own lock file can name yanked crates.
        locked: false,
    })
}

/// The directory with `wasm-pack`.
pub(crate) fn wasm_pack() -> Result<PathBuf> {
    installed(&Program {
        package: "wasm-pack",
        version: "0.15.1",
        binary: "wasm-pack",
        why: "runs the crate's tests inside a headless browser",
        takes: "one to three minutes",
        locked: true,
    })
}

/// The directory with `geckodriver`, which Debian has no package of.
pub(crate) fn geckodriver() -> Result<PathBuf> {
    installed(&Program {
        package: "geckodriver",
        version: "0.37.1",
        binary: "geckodriver",
        why: "drives Firefox",
        takes: "one to three minutes",
        locked: true,
    })
}

/// The directory with `cargo-fuzz`.
pub(crate) fn cargo_fuzz() -> Result<PathBuf> {
    installed(&Program {
        package: "cargo-fuzz",
        version: "0.13.2",
        binary: "cargo-fuzz",
        why: "builds the fuzz targets and runs them",
        takes: "one to three minutes",
        locked: true,
    })
}

const TIREA_SERVER: Program<'_> = Program {
    package: "tirea-agentos-server",
    version: "0.5.0",
    binary: "tirea-agentos-server",
    why: "is the real server of a protocol that the package reads",
    takes: "about seven minutes",
    locked: true,
};

/// The directory with `tirea-agentos-server`.
pub(crate) fn tirea_server() -> Result<PathBuf> {
    installed(&TIREA_SERVER)
}

/// Whether that server is here already.
pub(crate) fn has_tirea_server() -> Result<bool> {
    let root = tool_cache(TIREA_SERVER.package, TIREA_SERVER.version)?;
    Ok(root.join("bin").join(TIREA_SERVER.binary).is_file())
}

/// The version of wasm-bindgen in Cargo.lock.
pub(crate) fn wasm_bindgen_version(project: &Project) -> Result<String> {
    locked_version(project, "wasm-bindgen")
}

struct Program<'a> {
    package: &'a str,
    version: &'a str,
    binary: &'a str,
    why: &'a str,
    /// How long that takes with 2 cores, measured.
    takes: &'a str,
    locked: bool,
}

fn installed(program: &Program<'_>) -> Result<PathBuf> {
    let _lock = super::installing();
    let root = tool_cache(program.package, program.version)?;
    let binaries = root.join("bin");
    if binaries.join(program.binary).is_file() {
        return Ok(binaries);
    }
    begin(&format!(
        "tools: installing {} {}, which {} (once per machine, {}; kept in {})",
        program.package,
        program.version,
        program.why,
        program.takes,
        root.display()
    ));
    let scratch = root.join("build");
    let mut install = cargo();
    install
        .args(["install", program.package, "--version", program.version, "--root"])
        .arg(&root)
        // Measured with 2 cores: wasm-bindgen-cli 87 s, wasm-pack 70 s. Unoptimised they take 52 s
        // and 43 s, but then each browser test program takes 1.7 s longer to prepare, every time.
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1")
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
        .env("CARGO_PROFILE_RELEASE_DEBUG", "false")
        .env("CARGO_TARGET_DIR", &scratch)
        // Flags meant for the project's own code.
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS");
    if program.locked {
        install.arg("--locked");
    }
    run(&mut install).with_context(|| {
        format!(
            "installing {} {} failed; crates.io must be reachable for this step",
            program.package, program.version
        )
    })?;
    // Hundreds of megabytes that nothing needs again.
    let _ = fs::remove_dir_all(&scratch);
    note(&format!("tools: {} {} is ready", program.package, program.version));
    Ok(binaries)
}

fn locked_version(project: &Project, package: &str) -> Result<String> {
    let path = project.path("Cargo.lock");
    let lock = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    match version_in_lock(&lock, package) {
        Some(version) => Ok(version.to_owned()),
        None => bail!("Cargo.lock has no package {package}"),
    }
}

fn version_in_lock<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name).skip(1);
    lines.next()?.strip_prefix("version = \"")?.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::version_in_lock;

    #[test]
    fn the_version_is_that_of_the_whole_name() {
        let lock = "[[package]]\nname = \"wasm-bindgen-futures\"\nversion = \"0.4.80\"\n\n\
                    [[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.130\"\n";
        assert_eq!(version_in_lock(lock, "wasm-bindgen"), Some("0.2.130"));
        assert_eq!(version_in_lock(lock, "wasm"), None);
    }
}
