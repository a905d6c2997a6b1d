//! Test programs that run several at a time: each one's output in one piece, and those that fail run a second time, alone.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Result, bail};

use crate::output::{self, Page};
use crate::test::session::Session;
use crate::test::tally::Tally;

/// The largest number of failed programs that run a second time. More failures are not an accident.
const MOST_AGAIN: usize = 3;

/// Runs `run` for each job, `at_once` of them at a time, and counts the tests of all.
pub(super) fn run<J: Sync>(
    session: &Session<'_>,
    jobs: &[J],
    at_once: usize,
    name: impl Fn(&J) -> String,
    run: impl Fn(&J) -> Result<Tally> + Sync,
) -> Result<Tally> {
    let mut played = Tally::default();
    let mut failed = Vec::new();
    for (job, first) in first_run(jobs, at_once, &run) {
        match first {
            Ok(tally) if tally.failed == 0 => played.add(tally),
            first => failed.push((job, first)),
        }
    }
    let may_be_chance = failed.len() <= MOST_AGAIN;
    for (job, first) in failed {
        played.add(if may_be_chance { session.again(&name(job), first, || run(job)) } else { first }?);
    }
    if played == Tally::default() {
        bail!("no test ran");
    }
    Ok(played)
}

/// How each job ended, in their order.
fn first_run<'j, J: Sync>(
    jobs: &'j [J],
    at_once: usize,
    run: &(impl Fn(&J) -> Result<Tally> + Sync),
) -> Vec<(&'j J, Result<Tally>)> {
    let next = AtomicUsize::new(0);
    let ended = Mutex::new(Vec::new());
    let step_page = output::page();
    thread::scope(|scope| {
        let work = || {
            while let Some((at, job)) = {
                let at = next.fetch_add(1, Ordering::Relaxed);
                jobs.get(at).map(|job| (at, job))
            } {
                // The lines of programs that run side by side must not mix.
                let page = if at_once > 1 { Some(Page::default()) } else { step_page.clone() };
                let tally = output::onto(page.clone(), || run(job));
                let mut ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
                if at_once > 1 {
                    output::onto(step_page.clone(), || page.iter().for_each(output::pass_on));
                }
                ended.push((at, job, tally));
            }
        };
        for _ in 0..at_once {
            scope.spawn(work);
        }
    });
    let mut ended = ended.into_inner().unwrap_or_else(PoisonError::into_inner);
    ended.sort_by_key(|(at, ..)| *at);
    ended.into_iter().map(|(_, job, tally)| (job, tally)).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;
    use crate::project::Project;
    use crate::test::session::Scope;

    const PASSED: Tally = Tally { passed: 3, failed: 0 };
    const FAILED: Tally = Tally { passed: 2, failed: 1 };

    #[test]
    fn all_are_counted_and_only_what_failed_runs_again() {
        let project = Project::find().expect("the tests run in the checkout");
        for at_once in [1, 3] {
            let session = Session::new(&project, Scope::Quick);
            let runs: Vec<AtomicU64> = (0..5).map(|_| AtomicU64::new(0)).collect();
            let play = |at: &usize| {
                let is_first = runs[*at].fetch_add(1, Ordering::Relaxed) == 0;
                Ok(if *at == 1 && is_first { FAILED } else { PASSED })
            };
            let jobs = [0, 1, 2, 3, 4];
            let tally = run(&session, &jobs, at_once, ToString::to_string, play);
            assert_eq!(tally.ok(), Some(Tally { passed: 15, failed: 0 }));
            assert_eq!(
                runs.iter().map(|count| count.load(Ordering::Relaxed)).collect::<Vec<_>>(),
                [1, 2, 1, 1, 1]
            );
            assert_eq!(session.unsteady(), ["1 (1 failed)"]);
        }
    }

    #[test]
    fn many_that_fail_do_not_run_again_and_no_test_is_a_failure() {
        let project = Project::find().expect("the tests run in the checkout");
        let session = Session::new(&project, Scope::Quick);
        let jobs = [0, 1, 2, 3];
        let tally = run(&session, &jobs, 2, ToString::to_string, |_| Ok(FAILED));
        assert_eq!(tally.ok(), Some(Tally { passed: 8, failed: 4 }));
        assert!(run(&session, &jobs, 2, ToString::to_string, |_| Ok(Tally::default())).is_err());
    }
}
