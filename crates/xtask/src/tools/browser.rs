//! The browser that tests run in, and its driver.

use std::env;
use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::command::find_on_path;
use crate::tools::system;

/// Chromium and the chromedriver that belongs to it.
#[derive(Debug, Clone)]
pub(crate) struct Browser {
    /// The browser's program.
    pub(crate) chrome: PathBuf,
    /// The program that drives it for `wasm-pack`.
    pub(crate) driver: PathBuf,
}

const PACKAGES: [&str; 2] = ["chromium", "chromium-driver"];
const CHROME_NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];
const OTHERWISE: &str = "install the packages chromium and chromium-driver (or their like), or point \
                         the environment variables CHROME and CHROMEDRIVER to the two programs";

/// Finds both programs: by the environment variables CHROME and CHROMEDRIVER, then on the PATH,
/// then by installing them.
pub(crate) fn find_or_install() -> Result<Browser> {
    if let Some(browser) = find()? {
        return Ok(browser);
    }
    system::install(&PACKAGES, "so that tests run in a real browser", OTHERWISE)?;
    match find()? {
        Some(browser) => Ok(browser),
        None => bail!("Chromium is still not on the PATH: {OTHERWISE}"),
    }
}

/// The Debian packages to install for both programs; none if both are there.
pub(super) fn missing() -> Result<Vec<&'static str>> {
    Ok(if find()?.is_some() { Vec::new() } else { PACKAGES.to_vec() })
}

fn find() -> Result<Option<Browser>> {
    let chrome = named("CHROME")?.or_else(|| CHROME_NAMES.iter().find_map(|name| find_on_path(name)));
    let driver = named("CHROMEDRIVER")?.or_else(|| find_on_path("chromedriver"));
    Ok(chrome.zip(driver).map(|(chrome, driver)| Browser { chrome, driver }))
}

/// The program that an environment variable names, if it is set.
pub(super) fn named(variable: &str) -> Result<Option<PathBuf>> {
    let Some(value) = env::var_os(variable).filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    let path = PathBuf::from(value);
    if !path.is_file() {
        bail!("{variable} names {}, which is not a file", path.display());
    }
    Ok(Some(path))
}
