//! `bench relay`: the relay under load, compared with the agent itself and the development relay. The measuring code is
//! in `crates/relay/examples/load`; this module builds what it needs and starts it.

use std::process::Command;

use anyhow::Result;

use crate::command;
use crate::progress::begin;
use crate::project::{Project, cargo};
use crate::tools::{npm, redis};

/// What teams use in place of a relay.
const ANCHORS: &str = "crates/relay/examples/load/anchors";

/// Builds what is needed, and fails when a claim does not hold. The results are in `target/bench-relay.json`.
pub(crate) fn run(project: &Project, is_quick: bool) -> Result<()> {
    begin("bench: compiling the load, and the relay in it (cargo)");
    let mut build = cargo();
    build.args(["build", "--quiet", "--release", "--package", "turnwire-relay", "--example", "load"]);
    // As in the image.
    if !is_quick && command::on_path("make") {
        build.args(["--features", "jemalloc"]);
    }
    command::run(build.current_dir(project.root()))?;
    let program = format!("release/examples/load{}", std::env::consts::EXE_SUFFIX);
    let program = project.target().join(program);
    begin("bench: the relay under load, for about ten minutes");
    let mut load = if cfg!(unix) {
        // Ten thousand readers need as many open files, in the load and in the relay.
        let mut shell = Command::new("sh");
        shell.args(["-c", "ulimit -n \"$(ulimit -Hn)\"; exec \"$@\"", "sh"]).arg(program);
        shell
    } else {
        Command::new(program)
    };
    load.arg(project.target().join("bench-relay.json"));
    redis::tell(&mut load)?;
    if is_quick {
        load.arg("--quick");
    } else {
        npm::ci(project, ANCHORS, "beside which the relay is measured")?;
        load.arg("--beside").arg(project.path(ANCHORS));
    }
    command::run(&mut load)
}
