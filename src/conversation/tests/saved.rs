//! What outlives the page.

use super::*;

/// What a plan has stored last.
fn stored(options: Options, facts: Vec<Fact>) -> String {
    let mut plan = Plan::new(options);
    let mut stored = String::new();
    for fact in facts {
        for effect in plan.take(fact).expect("good use").effects {
            if let Effect::Store { text } = effect {
                stored = text;
            }
        }
    }
    stored
}

fn restored(text: String) -> Plan {
    let mut plan = Plan::new(all());
    let _ = plan.take(Fact::Restored { text });
    let _ = plan.take(Fact::Attach);
    plan
}

#[test]
fn the_queue_and_the_draft_come_back_held() {
    let facts = vec![send("a"), named(1, "x"), send("b"), send("c"), Fact::Draft { text: "d".to_owned() }];
    let mut plan = restored(stored(all(), facts));
    assert_eq!(states(&plan), [("b", QueuedState::Held), ("c", QueuedState::Held)]);
    assert_eq!(plan.draft(), "d");
    assert_eq!(take(&mut plan, page(vec![listed("x", "", "a")], false)), "");
    assert_eq!(take(&mut plan, Fact::Hold { on: false }), "start 1 after newest: b");
}

#[test]
fn a_start_on_its_way_is_unknown_until_the_list_tells() {
    for (turns, shown, sent) in [
        (vec![listed("x", "", "a")], "x", ShownState::Ended(End::Done)),
        (vec![], "a", ShownState::Here(Sent::Failed)),
    ] {
        let mut plan = restored(stored(all(), vec![send("a")]));
        assert_eq!(plan.path()[0].state, ShownState::Here(Sent::Unknown));
        assert_eq!(take(&mut plan, page(turns, false)), "");
        assert_eq!((path(&plan).as_str(), plan.path()[0].state), (shown, sent));
    }
}

#[test]
fn two_of_three_answers_come_back_and_the_third_sends_all() {
    let calls = &[("c", Who::Person), ("d", Who::Person), ("e", Who::Person)];
    let facts = vec![send("a"), named(1, "x"), ended(1, calls), answer(1, "c", "1"), answer(1, "d", "2")];
    let mut plan = restored(stored(all(), facts));
    let asks = Listed { calls: waiting(calls), ..listed("x", "", "a") };
    assert_eq!(take(&mut plan, page(vec![asks], false)), "");
    let answers: Vec<_> = plan.pending().iter().map(|asked| asked.answer.to_owned()).collect();
    assert_eq!(answers, ["1", "2", ""]);
    assert_eq!(take(&mut plan, answer(1, "e", "3")), "start 2 after x: c=1,d=2,e=3");
}

#[test]
fn what_is_damaged_or_would_break_lines_is_not_kept() {
    assert!(restored("q\nb\n".to_owned()).queue().is_empty());
    assert!(restored("what\nis\nthis\n".to_owned()).queue().is_empty());
    let facts = vec![
        send("a"),
        named(1, "x"),
        ended(1, &[("c\nq", Who::Person), ("d", Who::Person)]),
        answer(1, "c\nq", "1"),
    ];
    assert_eq!(stored(all(), facts), "");
}
