//! The cursor: how a number classifies its event, in every order of numbers.

use crate::turn::{Admission, Cursor};

use Admission::{Gap, New, Repeat};

/// Whether gaps are skipped at once, as for servers that cannot fill them.
#[derive(Clone, Copy, PartialEq)]
enum Gaps {
    Wait,
    Pass,
}

fn admitted(gaps: Gaps, numbers: &[u64]) -> (Vec<Admission>, Cursor) {
    let mut cursor = Cursor::default();
    let mut admit = |number: &u64| {
        let admission = cursor.admit(*number);
        if admission == Gap && gaps == Gaps::Pass {
            cursor.pass(*number);
        }
        admission
    };
    let admissions = numbers.iter().map(&mut admit).collect();
    (admissions, cursor)
}

/// Section 2.1: numbers begin at 1 and grow by 1. The columns: numbers, the result for each, and the cursor afterwards.
#[test]
fn every_number_is_let_through_once() {
    use Gaps::{Pass, Wait};
    let cases: [(Gaps, &[u64], &[Admission], u64); 14] = [
        (Wait, &[1, 2, 3], &[New, New, New], 3),
        (Wait, &[1, 1, 2, 2, 1], &[New, Repeat, New, Repeat, Repeat], 2),
        // A stream that starts over.
        (Wait, &[1, 2, 3, 1, 2, 3, 4], &[New, New, New, Repeat, Repeat, Repeat, New], 4),
        // A gap does not move the cursor, so the stream can be requested again after the contiguous part.
        (Wait, &[2], &[Gap], 0),
        (Wait, &[1, 3, 4, 2, 3], &[New, Gap, Gap, New, New], 3),
        (Wait, &[1, u64::MAX], &[New, Gap], 1),
        // Skipped; an event that arrives late is new the first time and a repeat the second time.
        (Pass, &[1, 4, 5], &[New, Gap, New], 5),
        (Pass, &[1, 5, 3, 3, 2, 4, 4, 6], &[New, Gap, New, Repeat, New, New, Repeat, New], 6),
        (Pass, &[3, 1, 2, 1, 2], &[Gap, New, New, Repeat, Repeat], 3),
        // The numbers at the edges of a gap were delivered.
        (Pass, &[1, 5, 1, 5], &[New, Gap, Repeat, Repeat], 5),
        // Several gaps.
        (Pass, &[2, 5, 8, 3, 6, 1, 7, 4], &[Gap, Gap, Gap, New, New, New, New, New], 8),
        (Pass, &[9, 8, 7, 9], &[Gap, New, New, Repeat], 9),
        // Events without a number cannot be distinguished.
        (Wait, &[0, 0, 1, 0], &[New, New, New, New], 1),
        (Pass, &[1, 0, 3, 0, 2], &[New, New, Gap, New, New], 3),
    ];
    for (gaps, numbers, expected, last) in cases {
        let (admissions, cursor) = admitted(gaps, numbers);
        assert_eq!(admissions, expected, "{numbers:?}");
        assert_eq!(cursor.last(), last, "{numbers:?}");
    }
}

/// A stream that resumes after the cursor may repeat events without a number.
#[test]
fn unnumbered_events_leave_the_cursor_unsure_until_a_number_follows() {
    let cases: [(&[u64], bool); 8] = [
        (&[], false),
        (&[1, 2], false),
        (&[0], true),
        (&[1, 0], true),
        (&[1, 0, 2], false),
        // Neither a repeat nor a gap shows where the unnumbered event belongs.
        (&[1, 0, 1], true),
        (&[1, 0, 3], true),
        (&[1, 0, 2, 0], true),
    ];
    for (numbers, is_unsure) in cases {
        let (_, cursor) = admitted(Gaps::Wait, numbers);
        assert_eq!(cursor.is_unsure(), is_unsure, "{numbers:?}");
    }
    let (_, cursor) = admitted(Gaps::Pass, &[1, 0, 3]);
    assert!(!cursor.is_unsure(), "what was passed over is known");
}

#[test]
fn the_cursor_moves_forward_only() {
    let mut cursor = Cursor::default();
    for (to, last) in [(3, 3), (2, 3), (0, 3), (9, 9), (9, 9)] {
        cursor.advance(to);
        assert_eq!(cursor.last(), last);
    }
    assert_eq!((cursor.admit(9), cursor.admit(11), cursor.admit(10)), (Repeat, Gap, New));
    // A subscription from the middle does not miss the events before it.
    assert_eq!((1..=8).map(|number| cursor.admit(number)).collect::<Vec<_>>(), [Repeat; 8]);
}

/// Lists may have numbers, too. A listed event is new unless it was delivered, and no stream resumes after it: lists
/// omit deltas.
#[test]
fn listed_numbers_are_let_through_once() {
    let (_, mut cursor) = admitted(Gaps::Pass, &[1, 2, 5]);
    let listed = [(2, false), (3, true), (3, false), (9, true), (7, true), (9, false), (4, true), (7, false)];
    for (number, is_new) in listed {
        assert_eq!(cursor.admit_listed(number), is_new, "{number}");
    }
    assert_eq!((cursor.last(), cursor.is_unsure()), (9, true));
    // Without a number, it cannot be recognised.
    assert!(cursor.admit_listed(0) && cursor.admit_listed(0));
}

#[test]
fn what_was_delivered_leaves_the_cursor_sure() {
    let (_, mut cursor) = admitted(Gaps::Wait, &[1, 2]);
    assert!(!cursor.admit_listed(1) && !cursor.admit_listed(2));
    assert!(!cursor.is_unsure());
    assert!(cursor.admit_listed(3));
    assert!(cursor.is_unsure(), "the next listed event may leave out what a stream would bring before it");
}

/// An event in a forgotten gap may have been delivered or not; dropping it could lose it.
#[test]
fn listed_numbers_in_forgotten_gaps_are_let_through() {
    let odd: Vec<u64> = (1..=1001).step_by(2).collect();
    let (_, mut cursor) = admitted(Gaps::Pass, &odd);
    assert!((2..=1000).step_by(2).all(|number| cursor.admit_listed(number)));
    assert!(!cursor.admit_listed(1001) && !cursor.admit_listed(999));
}

/// The cursor's memory is bounded: late events of very old gaps are lost.
#[test]
fn gaps_are_remembered_in_bounded_number() {
    let odd: Vec<u64> = (1..=1001).step_by(2).collect();
    let (_, mut cursor) = admitted(Gaps::Pass, &odd);
    let late: Vec<u64> = (2..=1000).step_by(2).filter(|number| cursor.admit(*number) == New).collect();
    assert_eq!(late, (970..=1000).step_by(2).collect::<Vec<u64>>(), "the newest 16 gaps");
    assert_eq!(cursor.last(), 1001);
}
