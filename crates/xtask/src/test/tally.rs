//! Counting: how many tests a runner says it ran, read from its own closing lines.

use std::process::ExitStatus;

use anyhow::{Result, bail};

/// Tests that passed and failed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Tests that passed.
    pub(crate) passed: u64,
    /// Tests that failed, were cancelled, or could not be counted.
    pub(crate) failed: u64,
}

impl Tally {
    /// Adds another tally to this one.
    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }

    fn is_empty(self) -> bool {
        self == Self::default()
    }
}

/// Holds a runner's count against how it ended: a run that counted nothing, or that ended badly
/// without naming a failed test, is a failure by itself.
pub(crate) fn of_run(runner: &str, status: Option<ExitStatus>, counted: Tally) -> Result<Tally> {
    let Some(status) = status else {
        bail!("{runner}: the time limit ended the run after {} passed tests", counted.passed);
    };
    if counted.is_empty() {
        bail!("{runner}: no test ran ({status})");
    }
    if !status.success() && counted.failed == 0 {
        bail!("{runner}: ended with {status} after {} passed tests", counted.passed);
    }
    if status.success() && counted.failed > 0 {
        bail!("{runner}: ended well, but says that {} tests failed", counted.failed);
    }
    Ok(counted)
}

/// Rust's test harness, one line per test binary: `test result: ok. 3 passed; 0 failed; …`.
/// wasm-bindgen's runner closes in the same words.
pub(crate) fn rust(output: &str) -> Tally {
    let mut tally = Tally::default();
    for line in output.lines().filter(|line| line.trim_start().starts_with("test result: ")) {
        tally.add(Tally { passed: number_before(line, "passed"), failed: number_before(line, "failed") });
    }
    tally
}

/// Node's test runner with the spec reporter: `ℹ pass 3`, `ℹ fail 1`, `ℹ cancelled 0`. Node 20
/// counts a file without tests as a passed test of the file's name; that is no test.
pub(crate) fn node(output: &str) -> Tally {
    let total = |name: &str| -> u64 {
        let counts = output.lines().filter_map(|line| line.strip_prefix("ℹ ")?.strip_prefix(name));
        counts.filter_map(|count| count.trim().parse::<u64>().ok()).sum()
    };
    let is_file = |line: &&str| line.starts_with("✔ /") && line.contains(".test.mjs (");
    let empty_files = output.lines().filter(is_file).count() as u64;
    Tally { passed: total("pass ").saturating_sub(empty_files), failed: total("fail ") + total("cancelled ") }
}

/// Vitest: `Tests  1 failed | 40 passed (41)`.
pub(crate) fn vitest(output: &str) -> Tally {
    let line = output.lines().rfind(|line| line.trim_start().starts_with("Tests ")).unwrap_or_default();
    Tally { passed: number_before(line, "passed"), failed: number_before(line, "failed") }
}

/// A last line `N passed, N failed`.
pub(crate) fn closing_line(output: &str) -> Tally {
    let last = output.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    Tally { passed: number_before(last, "passed"), failed: number_before(last, "failed") }
}

/// The number before a word, as in `3 passed;`; 0 when there is none.
fn number_before(line: &str, word: &str) -> u64 {
    let mut previous = "";
    for part in line.split_whitespace() {
        if part.trim_end_matches([',', ';', '.']) == word {
            return previous.parse().unwrap_or(0);
        }
        previous = part;
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rust_results_are_summed_over_binaries() {
        let output = "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured\n\
                      test a ... FAILED\n\
                      test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured\n";
        assert_eq!(rust(output), Tally { passed: 15, failed: 2 });
    }

    #[test]
    fn node_counts_cancelled_tests_as_failed() {
        let output = "✔ a (1ms)\nℹ tests 5\nℹ suites 0\nℹ pass 3\nℹ fail 1\nℹ cancelled 1\nℹ skipped 0\n";
        assert_eq!(node(output), Tally { passed: 3, failed: 2 });
    }

    #[test]
    fn a_node_file_without_tests_is_no_test() {
        let output = "✔ /tmp/a.test.mjs (73.1ms)\nℹ tests 1\nℹ pass 1\nℹ fail 0\nℹ cancelled 0\n";
        assert_eq!(node(output), Tally::default());
    }

    #[test]
    fn vitest_counts_tests_and_not_files() {
        let output =
            " Test Files  4 passed (4)\n      Tests  1 failed | 40 passed (41)\n   Start at  10:00:00\n";
        assert_eq!(vitest(output), Tally { passed: 40, failed: 1 });
    }

    #[test]
    fn only_the_last_line_closes_a_run() {
        assert_eq!(
            closing_line("9 passed, 9 failed\n4 passed, 0 failed\n\n"),
            Tally { passed: 4, failed: 0 }
        );
        assert_eq!(closing_line("crashed\n"), Tally::default());
    }

    #[cfg(unix)]
    #[test]
    fn a_run_must_count_tests_and_agree_with_its_exit_code() {
        use std::os::unix::process::ExitStatusExt;
        let good = Some(ExitStatus::from_raw(0));
        let bad = Some(ExitStatus::from_raw(1 << 8));
        let some = Tally { passed: 2, failed: 0 };
        let broken = Tally { passed: 2, failed: 1 };
        assert_eq!(of_run("x", good, some).ok(), Some(some));
        assert_eq!(of_run("x", bad, broken).ok(), Some(broken));
        assert!(of_run("x", good, Tally::default()).is_err());
        assert!(of_run("x", bad, some).is_err());
        assert!(of_run("x", good, broken).is_err());
        assert!(of_run("x", None, some).is_err());
    }
}
