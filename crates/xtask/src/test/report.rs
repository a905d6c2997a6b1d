//! The end of a test run: a table of the steps, and the totals on the last line.

use std::time::Duration;

use crate::test::tally::Tally;

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// A check without tests passed.
    Held,
    /// A runner ran tests and counted them.
    Counted(Tally),
    /// The step did not get as far as counting; it counts as one failure.
    Broken,
}

impl Verdict {
    fn tally(self) -> Tally {
        match self {
            Self::Held => Tally::default(),
            Self::Counted(tally) => tally,
            Self::Broken => Tally { passed: 0, failed: 1 },
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Held | Self::Counted(Tally { failed: 0, .. }) => "ok",
            Self::Counted(_) | Self::Broken => "FAILED",
        }
    }

    fn counts(self) -> String {
        match self {
            Self::Held | Self::Broken => String::new(),
            Self::Counted(Tally { passed, failed }) => format!("{passed} passed, {failed} failed"),
        }
    }
}

/// The steps that ran.
#[derive(Debug, Default)]
pub(crate) struct Report {
    rows: Vec<(&'static str, Verdict, Duration)>,
}

impl Report {
    /// Adds a step in the order in which it ran.
    pub(crate) fn add(&mut self, name: &'static str, verdict: Verdict, took: Duration) {
        self.rows.push((name, verdict, took));
    }

    /// Failed tests and broken steps.
    pub(crate) fn failed(&self) -> u64 {
        self.total().failed
    }

    /// Prints the table, the files that passed only on the second run, and, alone on the last line, the totals.
    pub(crate) fn print(&self, unsteady: &[String]) {
        println!("\n{:<10} {:<7} {:>8}   tests", "step", "result", "seconds");
        for (name, verdict, took) in &self.rows {
            let line = format!(
                "{name:<10} {:<7} {:>8.1}   {}",
                verdict.word(),
                took.as_secs_f64(),
                verdict.counts()
            );
            println!("{}", line.trim_end());
        }
        for name in unsteady {
            println!("\nunsteady: {name}");
        }
        let Tally { passed, failed } = self.total();
        println!("\n{passed} passed, {failed} failed");
    }

    fn total(&self) -> Tally {
        let mut total = Tally::default();
        for (_, verdict, _) in &self.rows {
            total.add(verdict.tally());
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_step_is_one_failure_and_a_check_is_no_test() {
        let mut report = Report::default();
        report.add("format", Verdict::Held, Duration::ZERO);
        report.add("host", Verdict::Counted(Tally { passed: 5, failed: 0 }), Duration::ZERO);
        assert_eq!(report.failed(), 0);
        report.add("build", Verdict::Broken, Duration::ZERO);
        assert_eq!(report.total(), Tally { passed: 5, failed: 1 });
    }
}
