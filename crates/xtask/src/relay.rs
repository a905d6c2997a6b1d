//! The relay of `demo --relay`: its config, its log, and the page that knows its address.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::children::Running;
use crate::gateway;
use crate::project::Project;

/// How the page learns the relay's address; `www/src/connection/relay.ts` reads it.
const MARKED: &str = "<html ";

/// A relay that was not started yet, in its own empty folder.
#[derive(Debug)]
pub(crate) struct Relay {
    program: PathBuf,
    folder: PathBuf,
    port: u16,
    config: String,
}

impl Relay {
    /// Compiles it and selects its port: this one, or the next free one. `name` distinguishes its folder from those of
    /// other relays.
    pub(crate) fn prepare(project: &Project, name: &str, port: u16) -> Result<Self> {
        let program = gateway::build_relay(project)?;
        let folder = project.scratch("demo")?.join(name);
        // An earlier demo's relay may have left turns here, but the agents' sessions are gone.
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
        }
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let template = project.path("www/relay.toml");
        let config =
            fs::read_to_string(&template).with_context(|| format!("cannot read {}", template.display()))?;
        Ok(Self { program, folder, port: gateway::free_port(port)?, config })
    }

    /// Its future URL.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Copies a built page that will call this relay, and returns the folder of the copy.
    pub(crate) fn page(&self, built: &Path) -> Result<PathBuf> {
        let copy = self.folder.join("page");
        copy_folder(built, &copy)?;
        let index = copy.join("index.html");
        let text = fs::read_to_string(&index).with_context(|| format!("cannot read {}", index.display()))?;
        if !text.contains(MARKED) {
            bail!("{} has no `{MARKED}`, so the page cannot be told where the relay is", index.display());
        }
        let text = text.replacen(MARKED, &format!("{MARKED}data-relay=\"{}\" ", self.url()), 1);
        fs::write(&index, text).with_context(|| format!("cannot write {}", index.display()))?;
        Ok(copy)
    }

    /// Starts it in front of this gateway. Dropping the returned value ends it.
    pub(crate) fn start(&self, gateway: &str) -> Result<Running> {
        let config = self
            .config
            .replace("{port}", &self.port.to_string())
            .replace("{gateway}", gateway)
            .replace("{folder}", &self.folder.to_string_lossy());
        let file = self.folder.join("relay.toml");
        fs::write(&file, config).with_context(|| format!("cannot write {}", file.display()))?;
        let mut command = Command::new(&self.program);
        command.arg("serve").arg(&file);
        let (running, url) = gateway::listening(&mut command)?;
        if url != self.url() {
            bail!("the relay listens on {url}, not on {}", self.url());
        }
        Ok(running)
    }
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        let copy = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &copy)?;
        } else {
            fs::copy(entry.path(), &copy)
                .with_context(|| format!("cannot copy {}", entry.path().display()))?;
        }
    }
    Ok(())
}
