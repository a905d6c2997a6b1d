//! Messages: sent, refused, lost, retried, edited, stopped.

use super::*;

#[test]
fn the_first_message_creates_the_session_and_is_never_lost() {
    let none = || Options { has_session: false, ..all() };
    play(
        "it is sent once the session is there",
        none(),
        vec![
            (Fact::Attach, ""),
            (send("a"), "create"),
            (send("b"), ""),
            (Fact::SessionReady, "start 1 after newest: a"),
            (named(1, "x"), ""),
            (ended(1, &[]), "start 2 after newest: b"),
        ],
    );
    let plan = play(
        "without a session it has failed, and goes out on retry",
        none(),
        vec![
            (send("a"), "create"),
            (Fact::SessionFailed, ""),
            (Fact::Retry { turn: Key(1), input: String::new() }, "create"),
            (Fact::SessionReady, "start 1 after newest: a"),
        ],
    );
    assert_eq!(plan.phase(), Phase::Sending);
    let plan = play(
        "stopped before it is sent, it is given back",
        none(),
        vec![(send("a"), "create"), (Fact::Stop, "give back 1: a"), (Fact::SessionReady, "")],
    );
    assert_eq!((path(&plan), plan.phase()), (String::new(), Phase::Idle));
}

#[test]
fn what_the_server_refused_stays_here() {
    let refused = || vec![(send("a"), "start 1 after newest: a"), (Fact::Refused { turn: Key(1) }, "")];
    let with = |fact: Fact, expected| {
        let mut steps = refused();
        steps.push((fact, expected));
        play("refused", all(), steps)
    };
    let plan = with(Fact::Retry { turn: Key(1), input: String::new() }, "start 1 after newest: a");
    assert_eq!(plan.path()[0].key, Key(1));
    with(Fact::Edit { turn: Key(1), input: "b".to_owned() }, "start 1 after newest: b");
    let plan = with(Fact::Dismiss { turn: Key(1) }, "give back 1: a");
    assert!(plan.path().is_empty());
    let plan = with(send("b"), "start 2 after newest: b");
    assert_eq!(path(&plan), "a b");
    assert_eq!(plan.branch(Key(1)), None, "what was not sent is nobody's sibling");
}

#[test]
fn what_may_have_arrived_is_unknown_until_the_list_tells() {
    let lost = || {
        vec![
            (Fact::Attach, "load"),
            (page(vec![listed("x", "", "a")], false), ""),
            (send("b"), "start 2 after newest: b"),
            (Fact::Lost { turn: Key(2) }, "load"),
            (Fact::Dismiss { turn: Key(2) }, "refused: Sent"),
            (Fact::Edit { turn: Key(2), input: "c".to_owned() }, "refused: Sent"),
            (Fact::Retry { turn: Key(2), input: String::new() }, ""),
        ]
    };
    let mut steps = lost();
    steps.push((page(vec![listed("x", "", "a"), listed("y", "x", "b")], false), "load"));
    let plan = play("it arrived", all(), steps);
    assert_eq!((path(&plan).as_str(), plan.path()[1].key), ("x y", Key(2)));
    let mut steps = lost();
    steps.push((page(vec![listed("x", "", "a")], false), "load"));
    steps.push((Fact::Retry { turn: Key(2), input: String::new() }, "start 2 after newest: b"));
    play("it did not", all(), steps);
    let mut steps = lost();
    steps.push((page(vec![listed("x", "", "a")], false), "load"));
    steps.push((page(vec![listed("x", "", "a"), listed("y", "x", "b")], false), ""));
    let plan = play("it arrived late", all(), steps);
    assert_eq!((path(&plan).as_str(), plan.path()[1].key), ("x y", Key(2)));
}

#[test]
fn questions_are_asked_again_beside_or_after() {
    let two = |options| {
        play(
            "two turns",
            options,
            vec![
                (Fact::Attach, "load"),
                (
                    page(
                        vec![listed("x", "", "a"), listed("y", if options.fork { "x" } else { "" }, "b")],
                        false,
                    ),
                    "",
                ),
            ],
        )
    };
    let again = |turn: u32| Fact::Regenerate { turn: Key(turn), input: "again".to_owned() };
    let edit = |turn: u32| Fact::Edit { turn: Key(turn), input: "other".to_owned() };
    for (fact, expected, shown) in [
        (again(2), "start 3 after x: again", "x again"),
        (again(1), "start 3 after nothing: again", "again"),
        (edit(2), "start 3 after x: other", "x other"),
        (edit(1), "start 3 after nothing: other", "other"),
    ] {
        let mut plan = two(all());
        assert_eq!(take(&mut plan, fact), expected);
        assert_eq!(path(&plan), shown);
        let branch = plan.branch(Key(3)).expect("siblings");
        assert_eq!((branch.at, branch.of.len()), (1, 2));
        let _ = plan.take(Fact::Show { turn: branch.of[0] });
        assert_eq!(path(&plan), "x y");
    }
    let mut plan = two(linear());
    assert_eq!(take(&mut plan, edit(1)), "refused: Unsupported");
    assert_eq!(take(&mut plan, again(1)), "start 3 after newest: again");
    assert_eq!(path(&plan), "x y again");
}

#[test]
fn stop_cancels_once_and_a_refused_start_is_given_back() {
    let plan = play(
        "a running turn",
        all(),
        vec![
            (send("a"), "start 1 after newest: a"),
            (named(1, "x"), ""),
            (send("b"), ""),
            (Fact::Stop, "cancel 1"),
            (Fact::Stop, ""),
            (Fact::Ended { turn: Key(1), end: End::Cancelled, calls: vec![] }, ""),
        ],
    );
    assert_eq!(states(&plan), [("b", QueuedState::Held)]);
    assert_eq!(plan.phase(), Phase::Idle);
    play(
        "a start",
        all(),
        vec![
            (send("a"), "start 1 after newest: a"),
            (Fact::Stop, "cancel 1"),
            (Fact::Refused { turn: Key(1) }, "give back 1: a"),
        ],
    );
    let plan = play(
        "it cannot be cancelled",
        all(),
        vec![
            (send("a"), "start 1 after newest: a"),
            (named(1, "x"), ""),
            (Fact::Stop, "cancel 1"),
            (Fact::CancelFailed { turn: Key(1) }, ""),
            (Fact::Stop, "cancel 1"),
        ],
    );
    assert_eq!(plan.phase(), Phase::Stopping);
}

#[test]
fn a_turn_of_unknown_end_is_read_again_and_never_sent() {
    let plan = play(
        "incomplete",
        all(),
        vec![
            (send("a"), "start 1 after newest: a"),
            (named(1, "x"), ""),
            (Fact::Incomplete { turn: Key(1) }, ""),
            (Fact::Retry { turn: Key(1), input: "a".to_owned() }, "watch 1"),
        ],
    );
    assert_eq!(plan.phase(), Phase::Thinking);
}

#[test]
fn bad_use_is_refused_and_changes_nothing() {
    let mut plan =
        play("a turn runs", all(), vec![(send("a"), "start 1 after newest: a"), (named(1, "x"), "")]);
    let text = || "t".to_owned();
    for (fact, refusal) in [
        (send(""), Refusal::Nothing),
        (busy("b", WhenBusy::Reject), Refusal::Busy),
        (Fact::Edit { turn: Key(1), input: text() }, Refusal::Busy),
        (Fact::Regenerate { turn: Key(1), input: text() }, Refusal::Busy),
        (Fact::Retry { turn: Key(1), input: text() }, Refusal::Busy),
        (Fact::Dismiss { turn: Key(1) }, Refusal::Sent),
        (Fact::Proceed, Refusal::Busy),
        (answer(1, "c", "yes"), Refusal::NotWaiting),
        (answer(9, "c", "yes"), Refusal::Gone),
        (Fact::Edit { turn: Key(9), input: text() }, Refusal::Gone),
        (Fact::Show { turn: Key(9) }, Refusal::Gone),
        (Fact::SendNow { key: Key(9) }, Refusal::Gone),
    ] {
        let before = write_view(&plan);
        assert_eq!(plan.take(fact.clone()), Err(refusal), "{fact:?}");
        assert_eq!(write_view(&plan), before, "{fact:?}");
    }
}

#[test]
fn late_facts_of_what_is_gone_are_harmless() {
    let mut plan = Plan::new(all());
    let gone = Key(7);
    let facts = [
        named(7, "x"),
        Fact::Active { turn: gone, activity: Activity::Working },
        Fact::Waits { turn: gone, calls: vec![] },
        ended(7, &[]),
        Fact::Incomplete { turn: gone },
        Fact::Refused { turn: gone },
        Fact::Lost { turn: gone },
        Fact::CancelFailed { turn: gone },
        Fact::Answered { turn: gone, call: "c".to_owned(), delivery: Delivery::Taken },
        Fact::ToolEnded { turn: gone, call: "c".to_owned(), result: None },
        Fact::Steered { key: gone, delivery: Delivery::Lost },
        Fact::Said { turn: gone, input: "a".to_owned() },
        Fact::PageFailed,
        page(vec![listed("x", "", "a")], false),
        Fact::SessionFailed,
    ];
    for fact in facts {
        assert_eq!(take(&mut plan, fact.clone()), "", "{fact:?}");
    }
    assert!(plan.path().is_empty());
}

#[test]
fn phases_follow_the_turn() {
    let mut plan = Plan::new(all());
    for (fact, phase) in [
        (Fact::Attach, Phase::Loading),
        (page(vec![], false), Phase::Idle),
        (send("a"), Phase::Sending),
        (named(1, "x"), Phase::Thinking),
        (Fact::Active { turn: Key(1), activity: Activity::Answering }, Phase::Answering),
        (Fact::Active { turn: Key(1), activity: Activity::Reconnecting }, Phase::Reconnecting),
        (Fact::Active { turn: Key(1), activity: Activity::Working }, Phase::Working),
        (Fact::Waits { turn: Key(1), calls: waiting(&[("c", Who::Person)]) }, Phase::Waiting),
        (answer(1, "c", "yes"), Phase::Working),
        (Fact::Ended { turn: Key(1), end: End::Failed, calls: vec![] }, Phase::Failed),
    ] {
        let told = format!("{fact:?}");
        plan.take(fact).expect("good use");
        assert_eq!(plan.phase(), phase, "{told}");
    }
}
