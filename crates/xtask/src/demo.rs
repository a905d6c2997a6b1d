//! `demo`: from a fresh clone to a running demo page in one command.

use std::process::{Command, Stdio};

use anyhow::{Result, bail};
use clap::Args;

use crate::command::{self, on_path};
use crate::front_end;
use crate::gateway::{self, Gateway};
use crate::package;
use crate::progress::{begin, note};
use crate::project::Project;
use crate::relay::Relay;
use crate::stamp::Stamp;
use crate::tools::npm;

/// The relay's port, if it is free; docs and examples use the same.
const RELAY_PORT: u16 = 8791;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The port to listen on; when it is taken, the next free one.
    #[arg(long, default_value_t = 8787)]
    port: u16,
    /// Serve the page that is written in Rust, of www/rust/, in its place.
    #[arg(long, conflicts_with = "relay")]
    rust: bool,
    /// Put a relay between the page and the gateway, so that several tabs and devices read one turn.
    #[arg(long)]
    relay: bool,
    /// Do not open the page in a browser.
    #[arg(long)]
    no_open: bool,
}

pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let page = if options.rust {
        front_end::build_page(project)?
    } else {
        build_page(project)?;
        project.path("www/dist")
    };
    let program = if options.relay { gateway::build(project)? } else { gateway::build_alone(project)? };
    let port = gateway::free_port(options.port)?;
    if port != options.port {
        note(&format!("demo: port {} is taken, using {port}", options.port));
    }
    let relay = options.relay.then(|| Relay::prepare(project, &port.to_string(), RELAY_PORT)).transpose()?;
    let page = relay.as_ref().map_or(Ok(page.clone()), |relay| relay.page(&page))?;
    let gateway = Gateway::start(&program, port, Some(&page))?;
    println!("\n    The demo page:  {}/", gateway.url());
    // It runs until this function returns.
    let _running = relay.as_ref().map(|relay| relay.start(gateway.url())).transpose()?;
    if let Some(relay) = &relay {
        println!("    The relay:      {}/", relay.url());
    }
    println!("\n    Ctrl-C ends it.\n");
    if !options.no_open {
        open(gateway.url());
    }
    let status = gateway.wait()?;
    bail!("the gateway ended by itself with {status}; its message is above")
}

/// The package, then the page that imports it.
pub(crate) fn build_page(project: &Project) -> Result<()> {
    package::build(project)?;
    npm::ci(project, "www", "which build the demo page")?;
    let www = project.path("www");
    let stamp = Stamp::new(project, "www")?
        .input(&www)?
        .input(&project.path("pkg/dist"))?
        .input(&project.path("pkg/families.json"))?
        .output(www.join("dist/index.html"));
    if stamp.is_current() {
        note("page: www/dist/ is up to date");
        return Ok(());
    }
    begin("page: building the demo page (vite)");
    stamp.clear();
    command::run(npm::npm(&www).args(["run", "build"]))?;
    stamp.keep()
}

/// Opens the page in the user's browser where there is a desktop to open it on.
fn open(url: &str) {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let has_desktop = cfg!(target_os = "macos")
        || ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    if !has_desktop || !on_path(opener) {
        return;
    }
    // The page's address is printed in any case, so a failing opener is not an error.
    let _ = Command::new(opener)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
}
