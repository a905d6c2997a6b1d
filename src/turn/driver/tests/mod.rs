//! Each state and each outcome, as a table that `docs/architecture.md` repeats.

mod names;
mod rows;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use names::STATES;
use rows::{On, Row, rows};

const FILE: &str = "docs/architecture.md";
const BEGIN: &str =
    "<!-- states: begin, written by `UPDATE_GOLDEN=1 cargo test -p turnwire --lib driver::tests` -->\n";
const END: &str = "<!-- states: end -->\n";

#[test]
fn each_outcome_leads_to_its_state() {
    for Row { from, on, when, to, mut play, act } in rows() {
        assert_eq!(play.driver.state().split(' ').next(), Some(from), "{on:?}, {when}: the row begins there");
        let step = act(&mut play);
        let mut state = play.driver.state();
        if from != "Ended" && state.starts_with("Ended") {
            state = state.replacen("Ended", &step.replacen("end", "Ended:", 1), 1);
        }
        assert_eq!(state, to, "{from}, {on:?}, {when}: {step}");
    }
}

/// Each state has a row for each outcome that its step can have.
#[test]
fn no_row_is_missing() {
    let rows: BTreeSet<(&str, On)> = rows().into_iter().map(|row| (row.from, row.on)).collect();
    for (name, ..) in STATES {
        let outcomes: &[On] = match name {
            "Ended" => &[On::Begins],
            "BackingOff" => &[On::Waited, On::Aborted],
            "Starting" => &[On::Ended, On::Answered, On::Failed, On::Aborted, On::Unsent],
            "Streaming" => &[On::Ended, On::Failed, On::Aborted, On::Unsent],
            _ => &[On::Answered, On::Failed, On::Aborted, On::Unsent],
        };
        for outcome in outcomes {
            assert!(rows.contains(&(name, *outcome)), "{name} has no row for {outcome:?}");
        }
    }
}

#[test]
fn the_document_has_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    let document = std::fs::read_to_string(&path).expect("the document is there");
    let (head, rest) = document.split_once(BEGIN).expect("the document marks the table's beginning");
    let (given, tail) = rest.split_once(END).expect("the document marks the table's end");
    let table = table();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, [head, BEGIN, &table, END, tail].concat()).expect("the file can be written");
    } else {
        assert!(given == table, "{FILE} has another table of states; UPDATE_GOLDEN=1 writes it anew");
    }
}

fn table() -> String {
    let mut text = "| state | asks for | |\n|---|---|---|\n".to_owned();
    for (name, asks, about) in STATES {
        writeln!(text, "| {name} | {asks} | {about} |").expect("a string takes any text");
    }
    text += "\n| in | after | when | next |\n|---|---|---|---|\n";
    let mut rows = rows();
    rows.sort_by_key(|row| (STATES.iter().position(|state| state.0 == row.from), row.on));
    for Row { from, on, when, to, .. } in rows {
        writeln!(text, "| {from} | {} | {when} | {to} |", on.word()).expect("a string takes any text");
    }
    text
}
