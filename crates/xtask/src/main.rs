//! The project's own tasks, run as `cargo xtask <task>`. Each task is one module; shared code (paths, child processes,
//! progress lines, stamps, tools) is beside them.

mod bench;
mod children;
mod command;
mod demo;
mod families;
mod front_end;
mod fuzz;
mod gateway;
mod interop;
mod licences;
mod load;
mod matrix;
mod output;
mod package;
mod progress;
mod project;
mod relay;
mod site;
mod size;
mod soak;
mod stamp;
mod tarball;
mod test;
mod tools;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::project::Project;

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "The tasks of turnwire.", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Make the npm package in pkg/: Rust to wasm, bindings, optimised module, bundles, types.
    Build,
    /// Build everything, start the development gateway, and serve the demo page from it.
    Demo(demo::Options),
    /// Run every check and every test; the last line says how many tests passed and failed.
    Test(test::Options),
    /// Measure the parts of the package and fail past the committed budget (size-budget.json).
    Size(size::Options),
    /// Measure turnwire beside plain JavaScript and other packages, and judge what is claimed of it.
    Bench(bench::Options),
    /// Feed the decoders with random inputs.
    Fuzz(fuzz::Options),
    /// Run many turns at once on connections that keep breaking, and count what is lost or doubled.
    Soak(soak::Options),
    /// Build the static site of the documents, the reference and the demo.
    Docs(site::Options),
    /// Play a turn in each bundler and runtime.
    Matrix(matrix::Options),
    /// Write the licences of what is inside the wasm modules into LICENSES.md.
    Licences,
    /// Run a vendor's own client library against the development gateway, or the package against a real server.
    Interop(interop::Options),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments.task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: &Task) -> Result<()> {
    children::end_all_on_interrupt()?;
    let project = Project::find()?;
    match task {
        Task::Build => package::build(&project),
        Task::Demo(options) => demo::run(&project, options),
        Task::Test(options) => test::run(&project, options),
        Task::Size(options) => size::run(&project, options),
        Task::Bench(options) => bench::run(&project, options),
        Task::Fuzz(options) => fuzz::run(&project, options),
        Task::Soak(options) => soak::run(&project, options),
        Task::Docs(options) => site::run(&project, options),
        Task::Matrix(options) => match matrix::run(&project, options)? {
            tally if tally.failed > 0 => anyhow::bail!("{} rows failed", tally.failed),
            _ => Ok(()),
        },
        Task::Licences => licences::write(&project),
        Task::Interop(options) => interop::run(&project, options),
    }
}
