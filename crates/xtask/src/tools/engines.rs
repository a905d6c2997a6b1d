//! Firefox and `WebKit` with their drivers, for tests that run in every engine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::command::find_on_path;
use crate::tools::{browser, rust, system};

/// A program that the tests start, and how they are told where it is.
#[derive(Debug)]
struct Program {
    /// The environment variable that names it, for xtask and for the tests alike.
    variable: &'static str,
    find: fn() -> Option<PathBuf>,
    /// The Debian package that has it.
    package: &'static str,
}

/// All but Chromium, and geckodriver, which Debian has not.
const PROGRAMS: [Program; 4] = [
    Program {
        variable: "FIREFOX",
        find: || ["firefox-esr", "firefox"].iter().find_map(|name| find_on_path(name)),
        package: "firefox-esr",
    },
    Program {
        variable: "WEBKITWEBDRIVER",
        find: || find_on_path("WebKitWebDriver"),
        package: "webkit2gtk-driver",
    },
    Program { variable: "MINIBROWSER", find: minibrowser, package: "webkit2gtk-driver" },
    Program { variable: "XVFB", find: || find_on_path("Xvfb"), package: "xvfb" },
];

const WHY: &str = "so that tests run in every browser engine";
const OTHERWISE: &str = "install Chromium with its driver, Firefox, and WebKitGTK with WebKitWebDriver, its \
                         MiniBrowser, and Xvfb, or point the environment variables CHROME, CHROMEDRIVER, \
                         FIREFOX, WEBKITWEBDRIVER, MINIBROWSER and XVFB to the programs";

/// Where the programs are, by the environment variable that names each.
#[derive(Debug, Clone)]
pub(crate) struct Engines(Vec<(&'static str, PathBuf)>);

impl Engines {
    /// Finds all programs: by the environment variables, then in the system, then by installing
    /// what is missing, Chromium included.
    pub(crate) fn find_or_install() -> Result<Self> {
        let mut packages = browser::missing()?;
        for program in &PROGRAMS {
            if program.path()?.is_none() && !packages.contains(&program.package) {
                packages.push(program.package);
            }
        }
        if !packages.is_empty() {
            system::install(&packages, WHY, OTHERWISE)?;
        }
        let mut found = vec![("GECKODRIVER", geckodriver()?)];
        for program in &PROGRAMS {
            let Some(path) = program.path()? else {
                bail!("{} is still missing: {OTHERWISE}", program.variable);
            };
            found.push((program.variable, path));
        }
        Ok(Self(found))
    }

    /// Where the program of this variable is.
    pub(crate) fn path(&self, variable: &str) -> Option<&Path> {
        self.0.iter().find(|(name, _)| *name == variable).map(|(_, path)| path.as_path())
    }

    /// Tells a runner where the programs are.
    pub(crate) fn tell(&self, runner: &mut Command) {
        for (variable, path) in &self.0 {
            runner.env(variable, path);
        }
    }
}

impl Program {
    fn path(&self) -> Result<Option<PathBuf>> {
        Ok(browser::named(self.variable)?.or_else(self.find))
    }
}

fn geckodriver() -> Result<PathBuf> {
    match browser::named("GECKODRIVER")?.or_else(|| find_on_path("geckodriver")) {
        Some(path) => Ok(path),
        None => Ok(rust::geckodriver()?.join("geckodriver")),
    }
}

/// The small browser that comes with the GTK port of `WebKit`, for automation; it is on no PATH.
fn minibrowser() -> Option<PathBuf> {
    let libraries = ["/usr/lib", "/usr/lib64", "/usr/libexec"].map(PathBuf::from);
    let of_machine =
        fs::read_dir("/usr/lib").into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let places: Vec<PathBuf> = libraries.into_iter().chain(of_machine).collect();
    let in_version = |version: &str| {
        let program = Path::new(version).join("MiniBrowser");
        places.iter().map(|place| place.join(&program)).find(|path| path.is_file())
    };
    ["webkit2gtk-4.1", "webkitgtk-6.0", "webkit2gtk-4.0"].into_iter().find_map(in_version)
}
