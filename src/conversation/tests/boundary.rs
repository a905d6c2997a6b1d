//! Facts, effects and what is shown, as lines.

use super::*;

#[test]
fn facts_are_read_from_lines() {
    let input = || "a".to_owned();
    let calls = vec![Waiting { id: "c".to_owned(), who: Who::Tool }];
    let turn = Key(5);
    for (kind, number, lines, fact) in [
        (0, 0, "a\n", Fact::Send { input: input(), when_busy: None, discard: false }),
        (0, 12, "a\n", Fact::Send { input: input(), when_busy: Some(WhenBusy::Reject), discard: true }),
        (1, 0, "", Fact::Stop),
        (2, 1, "c\na\n", Fact::Answer { turn, call: "c".to_owned(), answer: Some(input()) }),
        (2, 0, "c\n", Fact::Answer { turn, call: "c".to_owned(), answer: None }),
        (12, 3, "", Fact::MoveQueued { key: turn, to: 3 }),
        (24, 1, "x\n\n", Fact::Named { turn, id: "x".to_owned(), previous: Some(String::new()) }),
        (24, 0, "x\n", Fact::Named { turn, id: "x".to_owned(), previous: None }),
        (26, 0, "c\n1\n\n", Fact::Waits { turn, calls: calls.clone() }),
        (27, 2, "\n", Fact::Ended { turn, end: End::Cancelled, calls: vec![] }),
        (34, 2, "", Fact::Steered { key: turn, delivery: Delivery::Lost }),
        (37, 1, "", Fact::Leading { on: true }),
    ] {
        assert_eq!(read_fact(kind, 5, number, lines), Some(fact), "{kind}");
    }
    let text = "x\n\n2026\na\n0\nc\n1\n\nsaid\n\ny\nx\n\n\n3\n\n\n";
    let first = Listed {
        created_at: "2026".to_owned(),
        calls,
        said: vec!["said".to_owned()],
        ..listed("x", "", "a")
    };
    let second = Listed { state: ListedState::Running, ..listed("y", "x", "") };
    assert_eq!(read_fact(22, 0, 1, text), Some(page(vec![first, second], true)));
    assert_eq!(read_fact(38, 0, 0, ""), None);
}

#[test]
fn effects_and_what_is_shown_are_lines() {
    let mut plan = Plan::new(all());
    let taken = plan.take(send("a")).expect("good use");
    assert_eq!(write_effects(&taken), "1\n1\n1\n0\n\n0\n1\na\n10\n5\nu\na\n\n\n\n12\n");
    assert_eq!(write_view(&plan), "2\n2\n\n1\nn1\n\n0\n1\na\n\n\n\n\n\n");
    let _ = plan.take(named(1, "x"));
    let _ = plan.take(busy("b", WhenBusy::Queue));
    let _ = plan.take(Fact::Waits { turn: Key(1), calls: waiting(&[("c", Who::Person)]) });
    assert_eq!(write_view(&plan), "6\n6\n\n1\nn1\nx\n3\n1\n\n\n\n\n2\n0\nb\n\n1\nc\n0\n0\n\n\n");
}
