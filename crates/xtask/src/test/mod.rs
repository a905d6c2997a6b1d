//! `test`: every check and every test of the project. It shows each runner's own output, and ends with one table and
//! one line of totals.

mod code;
mod executables;
mod report;
mod runner;
mod session;
mod side_by_side;
mod steps;
pub(crate) mod tally;

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::Args;

use crate::output::{self, Page, say};
use crate::progress::{begin, header};
use crate::project::Project;
use crate::test::report::{Report, Verdict};
use crate::test::session::{Scope, Session};
use crate::test::steps::{Lane, STEPS, Step};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Run only this step, with what it needs; can be given several times. The names are those of
    /// the table that a full run ends with.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Run every row. Without it, a step with many rows of a kind runs some of each kind, and says how many it leaves out.
    #[arg(long)]
    all: bool,
    /// Run the steps one after the other, each shown as it goes; otherwise those that compile run beside those that wait.
    #[arg(long)]
    one_at_a_time: bool,
}

/// Runs the chosen steps. A failed step does not prevent later ones.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let steps = chosen(&options.only)?;
    let session = Session::new(project, if options.all { Scope::All } else { Scope::Quick });
    let mut report = Report::default();
    for (name, verdict, took) in run_lanes(&steps, &session, options.one_at_a_time) {
        report.add(name, verdict, took);
    }
    report.print(&session.unsteady());
    if report.failed() > 0 {
        // The totals stay the last line of stdout.
        bail!("the run above has failures");
    }
    Ok(())
}

/// A step's name, how it ended, and how long it took.
type Ended = (&'static str, Verdict, Duration);

/// Runs the steps of two lanes side by side, then those that run alone. Returns how each ended, in the order of the
/// steps. With steps of one lane only, their output appears as they run.
fn run_lanes(steps: &[&'static Step], session: &Session<'_>, one_at_a_time: bool) -> Vec<Ended> {
    let in_lane = |lane| steps.iter().copied().filter(move |step| step.lane == lane);
    let is_empty = |lane| in_lane(lane).next().is_none();
    let mut ended: Vec<Ended> = Vec::new();
    if one_at_a_time || is_empty(Lane::Code) || is_empty(Lane::Package) {
        ended.extend(steps.iter().map(|step| run_step(step, session)));
    } else {
        let play = |lane| in_lane(lane).map(|step| run_on_page(step, session)).collect::<Vec<_>>();
        ended.extend(thread::scope(|scope| {
            let code = scope.spawn(|| play(Lane::Code));
            let package = play(Lane::Package);
            [code.join().unwrap_or_default(), package].concat()
        }));
        ended.extend(in_lane(Lane::Alone).map(|step| run_step(step, session)));
    }
    ended.sort_by_key(|(name, ..)| STEPS.iter().position(|step| step.name == *name));
    ended
}

/// Runs a step beside others: says that it begins, and shows its output when it has ended.
fn run_on_page(step: &'static Step, session: &Session<'_>) -> Ended {
    begin(&format!("{} begins: {}", step.name, step.about));
    let page = Page::default();
    let ended = output::onto(Some(Arc::clone(&page)), || run_step(step, session));
    output::show(&page);
    ended
}

fn run_step(step: &'static Step, session: &Session<'_>) -> Ended {
    header(step.name);
    begin(&format!("{}: {}", step.name, step.about));
    let began = Instant::now();
    let verdict = (step.run)(session).unwrap_or_else(|error| {
        say(&format!("\n{} failed: {error:#}", step.name));
        Verdict::Broken
    });
    (step.name, verdict, began.elapsed())
}

fn chosen(only: &[String]) -> Result<Vec<&'static Step>> {
    if let Some(unknown) = only.iter().find(|name| STEPS.iter().all(|step| step.name != **name)) {
        let names: Vec<_> = STEPS.iter().map(|step| step.name).collect();
        bail!("there is no step {unknown}; the steps are {}", names.join(", "));
    }
    Ok(STEPS.iter().filter(|step| only.is_empty() || only.iter().any(|name| name == step.name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_keep_their_order_and_names_are_checked() {
        let names = |only: &[&str]| {
            let only: Vec<String> = only.iter().map(ToString::to_string).collect();
            chosen(&only).map(|steps| steps.iter().map(|step| step.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&["node", "format"]).ok(), Some(vec!["format", "node"]));
        assert_eq!(names(&[]).map(|all| all.len()).ok(), Some(STEPS.len()));
        assert!(names(&["nodes"]).is_err());
    }
}
