//! `test`: every check and every test of the project, each runner's own output shown, with one
//! table and one line of totals at the end.

mod report;
mod session;
mod steps;
pub(crate) mod tally;

use std::time::Instant;

use anyhow::{Result, bail};
use clap::Args;

use crate::progress::{begin, header};
use crate::project::Project;
use crate::test::report::{Report, Verdict};
use crate::test::session::{Scope, Session};
use crate::test::steps::{STEPS, Step};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Run only this step, with what it needs; can be given several times. The names are those of
    /// the table that a full run ends with.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Run every row. Without it, a step with many rows of a kind runs some of each kind, and says how many it leaves out.
    #[arg(long)]
    all: bool,
}

/// Runs the chosen steps in order. A step that fails does not keep later ones from running.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let steps = chosen(&options.only)?;
    let mut session = Session::new(project, if options.all { Scope::All } else { Scope::Quick });
    let mut report = Report::default();
    for step in steps {
        header(step.name);
        begin(&format!("{}: {}", step.name, step.about));
        let began = Instant::now();
        let verdict = match (step.run)(&mut session) {
            Ok(verdict) => verdict,
            Err(error) => {
                println!("\n{} failed: {error:#}", step.name);
                Verdict::Broken
            }
        };
        report.add(step.name, verdict, began.elapsed());
    }
    report.print();
    if report.failed() > 0 {
        // The totals stay the last line of stdout.
        bail!("the run above has failures");
    }
    Ok(())
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
