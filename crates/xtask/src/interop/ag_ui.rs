//! AG-UI: the official client, and the official schema of events, against the development gateway; and the servers of
//! agent frameworks, each with a scripted model, against the official client and the package.

use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use crate::command::{Shown, show};
use crate::gateway;
use crate::package;
use crate::progress::begin;
use crate::project::Project;
use crate::test::tally::{self, Tally};
use crate::tools::{browser, npm, python};

/// The folder of the tests.
const TESTS: &str = "tests/interop/ag-ui";
/// The servers, by the names of their files of requirements.
const SERVERS: [&str; 5] = ["pydantic-ai", "agent-framework", "langgraph", "agno", "adk"];

/// The servers start a dozen times, each in half a minute on a busy machine.
const SERVERS_LIMIT: Duration = Duration::from_mins(20);

/// Installs and builds what the client needs, and counts its tests against the gateway.
pub(super) fn run_client(project: &Project) -> Result<Tally> {
    install_client(project)?;
    let gateway = gateway::build(project)?;
    begin("interop: @ag-ui/client 1.0.0 against the development gateway");
    test(project, super::LIMIT, &["runs.test.mjs"], |node| node.env("TURNWIRE_GATEWAY", gateway))
}

/// Installs the servers, and counts the tests of the client and of the package against them.
pub(super) fn run_servers(project: &Project) -> Result<Tally> {
    install_client(project)?;
    package::build(project)?;
    let environments = project.scratch("ag-ui")?;
    for server in SERVERS {
        let requirements = project.path(TESTS).join(format!("servers/requirements/{server}.txt"));
        python::environment(project, &environments.join(server), &requirements)?;
    }
    npm::ci(project, &format!("{TESTS}/copilotkit"), "with the runtime of CopilotKit")?;
    let gateway = gateway::build(project)?;
    let browser = browser::find_or_install()?;
    begin(
        "interop: Pydantic AI, Agent Framework, LangGraph, Agno, ADK and CopilotKit against @ag-ui/client 1.0.0 and the package, also in Chromium",
    );
    let files = ["servers.test.mjs", "page.test.mjs", "threads.test.mjs", "copilotkit.test.mjs"];
    test(project, SERVERS_LIMIT, &files, |node| {
        node.env("AG_UI_SERVERS", environments)
            .env("TURNWIRE_GATEWAY", gateway)
            .env("CHROME", &browser.chrome)
    })
}

fn install_client(project: &Project) -> Result<()> {
    npm::ci(project, TESTS, "with the official client of AG-UI")?;
    npm::ci(project, "tests", "which run programs")
}

fn test(
    project: &Project,
    limit: Duration,
    files: &[&str],
    with: impl FnOnce(&mut Command) -> &mut Command,
) -> Result<Tally> {
    let mut node = Command::new("node");
    // Each file starts servers.
    node.args(["--test", "--test-reporter=spec", "--test-concurrency=1"])
        .arg(format!("--test-timeout={}", limit.as_millis()))
        .args(files.iter().map(|file| project.path(TESTS).join(file)));
    let Shown { status, output } = show(with(&mut node), limit)?;
    tally::of_run("interop", status, tally::node(&output))
}
