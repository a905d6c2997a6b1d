//! The queue, and steering.

use super::*;

fn running() -> Vec<(Fact, &'static str)> {
    vec![(send("a"), "start 1 after newest: a"), (named(1, "x"), "")]
}

#[test]
fn inputs_wait_in_order() {
    let mut steps = running();
    steps.extend([
        (send("b"), ""),
        (send("c"), ""),
        (send("d"), ""),
        (Fact::MoveQueued { key: Key(4), to: 0 }, ""),
        (Fact::EditQueued { key: Key(2), input: "B".to_owned() }, ""),
        (Fact::RemoveQueued { key: Key(3) }, "give back 3: c"),
        (Fact::RemoveQueued { key: Key(3) }, "refused: Gone"),
        (ended(1, &[]), "start 4 after newest: d"),
        (named(4, "y"), ""),
        (ended(4, &[]), "start 2 after newest: B"),
    ]);
    play("order", all(), steps);
}

#[test]
fn what_fails_holds_the_queue() {
    for fact in [
        Fact::Ended { turn: Key(1), end: End::Failed, calls: vec![] },
        Fact::Incomplete { turn: Key(1) },
        Fact::Stop,
    ] {
        let mut steps = running();
        steps.push((send("b"), ""));
        let mut plan = play("held", all(), steps);
        let _ = plan.take(fact.clone());
        assert_eq!(states(&plan), [("b", QueuedState::Held)], "{fact:?}");
        assert!(plan.status().held_queue);
    }
}

#[test]
fn a_held_input_goes_when_a_person_says_so() {
    let held = || {
        let mut steps = running();
        steps.extend([(send("b"), ""), (Fact::Hold { on: true }, ""), (ended(1, &[]), "")]);
        steps
    };
    let mut steps = held();
    steps.push((Fact::Hold { on: false }, "start 2 after newest: b"));
    play("all", all(), steps);
    let mut steps = held();
    steps.push((Fact::SendNow { key: Key(2) }, "start 2 after newest: b"));
    play("one", all(), steps);
}

#[test]
fn while_a_turn_runs_an_input_queues_steers_interrupts_or_is_refused() {
    for (when_busy, options, expected, states_after) in [
        (WhenBusy::Queue, all(), "", QueuedState::Waits),
        (WhenBusy::Steer, all(), "steer 2 into 1: b", QueuedState::Steering(Key(1))),
        (WhenBusy::Steer, linear(), "", QueuedState::Waits),
        (WhenBusy::Interrupt, all(), "cancel 1", QueuedState::Waits),
    ] {
        let mut steps = running();
        steps.push((busy("b", when_busy), expected));
        let plan = play("busy", options, steps);
        assert_eq!(states(&plan), [("b", states_after)], "{when_busy:?}");
    }
    let mut steps = running();
    steps.push((busy("b", WhenBusy::Reject), "refused: Busy"));
    play("busy", all(), steps);
}

#[test]
fn a_steered_message_is_in_one_place() {
    let steered = || {
        let mut steps = running();
        steps.push((busy("b", WhenBusy::Steer), "steer 2 into 1: b"));
        steps.push((Fact::EditQueued { key: Key(2), input: "c".to_owned() }, "refused: Sent"));
        steps
    };
    let told = |delivery| Fact::Steered { key: Key(2), delivery };
    let said = || Fact::Said { turn: Key(1), input: "b".to_owned() };
    let mut steps = steered();
    steps.push((told(Delivery::Taken), ""));
    let mut plan = play("taken", all(), steps);
    assert_eq!(plan.path()[0].steered, [(Key(2), "b")]);
    let _ = plan.take(said());
    assert_eq!(plan.path()[0].steered, [(Key(2), "")], "the turn's own record has it");
    let mut steps = steered();
    steps.extend([(said(), ""), (told(Delivery::Taken), "")]);
    let plan = play("the record was first", all(), steps);
    assert_eq!((plan.path()[0].steered.len(), plan.queue().len()), (1, 0));
    let mut steps = steered();
    steps.extend([(told(Delivery::Refused), ""), (ended(1, &[]), "start 2 after newest: b")]);
    play("refused: it is sent after the turn", all(), steps);
    let mut steps = steered();
    steps.extend([
        (told(Delivery::Lost), ""),
        (Fact::RemoveQueued { key: Key(2) }, "refused: Sent"),
        (ended(1, &[]), ""),
    ]);
    let plan = play("lost, and not in the turn", all(), steps);
    assert_eq!(states(&plan), [("b", QueuedState::Held)]);
    let mut steps = steered();
    steps.extend([(told(Delivery::Lost), ""), (said(), ""), (ended(1, &[]), "")]);
    let plan = play("lost, and in the turn", all(), steps);
    assert!(plan.queue().is_empty());
}
