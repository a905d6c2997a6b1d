//! Answers of people and of tools.

use super::*;

const BOTH: &[(&str, Who)] = &[("c", Who::Person), ("d", Who::Person)];

fn paused(options: Options, calls: &[(&str, Who)]) -> Vec<(Fact, &'static str)> {
    let _ = options;
    vec![(send("a"), "start 1 after newest: a"), (named(1, "x"), ""), (ended(1, calls), "")]
}

#[test]
fn answers_go_together_with_the_last_one() {
    let mut steps = paused(linear(), BOTH);
    steps.extend([
        (send("b"), "refused: CallsWait"),
        (answer(1, "c", "no"), ""),
        (Fact::Answer { turn: Key(1), call: "c".to_owned(), answer: None }, ""),
        (answer(1, "d", "yes"), ""),
        (answer(1, "c", "yes"), "start 2 after newest: c=yes,d=yes"),
        (answer(1, "c", "no"), "refused: Sent"),
        (named(2, "y"), ""),
        (answer(1, "c", "no"), "refused: NotWaiting"),
    ]);
    play("answers", linear(), steps);
}

#[test]
fn an_answer_goes_at_once_where_the_turn_takes_it() {
    let live = || {
        vec![
            (send("a"), "start 1 after newest: a"),
            (named(1, "x"), ""),
            (Fact::Waits { turn: Key(1), calls: waiting(BOTH) }, ""),
            (answer(1, "c", "yes"), "answer 1: c=yes"),
            (answer(1, "c", "no"), "refused: Sent"),
        ]
    };
    let told = |delivery| Fact::Answered { turn: Key(1), call: "c".to_owned(), delivery };
    let mut steps = live();
    steps.extend([
        (told(Delivery::Refused), ""),
        (ended(1, BOTH), ""),
        (answer(1, "d", "yes"), "start 2 after x: c=yes,d=yes"),
    ]);
    play("the turn had paused: it goes with the others", all(), steps);
    let mut steps = live();
    steps.extend([(told(Delivery::Lost), ""), (answer(1, "c", "again"), "answer 1: c=again")]);
    play("a lost one goes again only when a person says so", all(), steps);
    let mut steps = live();
    steps.extend([
        (told(Delivery::Taken), ""),
        (ended(1, &[("d", Who::Person)]), ""),
        (answer(1, "d", "yes"), "start 2 after x: d=yes"),
    ]);
    play("the others go at the end", all(), steps);
}

#[test]
fn answers_that_did_not_arrive_wait_for_a_person() {
    let mut steps = paused(all(), &BOTH[..1]);
    steps.extend([
        (answer(1, "c", "yes"), "start 2 after x: c=yes"),
        (Fact::Refused { turn: Key(2) }, "load"),
        (Fact::PageFailed, ""),
        (Fact::Proceed, "start 3 after x: c=yes"),
        (Fact::Lost { turn: Key(3) }, "load"),
        (Fact::Proceed, "refused: Sent"),
        (answer(1, "c", "no"), "refused: Sent"),
    ]);
    play("they are kept", all(), steps);
}

#[test]
fn tools_run_in_the_tab_that_leads() {
    let lead = |on| Fact::Leading { on };
    let result = || Fact::ToolEnded { turn: Key(1), call: "t".to_owned(), result: Some("r".to_owned()) };
    let mut steps = paused(linear(), &[("t", Who::Tool)]);
    steps.extend([
        (lead(true), "run t; load"),
        (lead(false), "stop tools"),
        (result(), ""),
        (page(vec![], false), ""),
        (lead(true), "run t; load"),
        (result(), "start 2 after newest: t=r"),
    ]);
    play("one tab", linear(), steps);
    let mut steps = vec![(lead(true), "load"), (page(vec![], false), "")];
    steps.extend(paused(linear(), &[]));
    steps.pop();
    steps.extend([
        (ended(1, &[("t", Who::Tool)]), "run t"),
        (Fact::Stop, "stop tools"),
        (result(), ""),
        (Fact::Proceed, "run t"),
    ]);
    play("stopped tools run again when a person says so", linear(), steps);
}

#[test]
fn tools_alone_go_on_for_ten_rounds() {
    let mut plan = Plan::new(linear());
    let _ = plan.take(Fact::Leading { on: true });
    let _ = plan.take(Fact::PageFailed);
    let _ = plan.take(send("a"));
    for round in 1..=11 {
        let _ = plan.take(named(round, &format!("x{round}")));
        let expected = if round < 11 { "run t" } else { "" };
        assert_eq!(take(&mut plan, ended(round, &[("t", Who::Tool)])), expected, "round {round}");
        let _ = plan.take(Fact::ToolEnded {
            turn: Key(round),
            call: "t".to_owned(),
            result: Some("r".to_owned()),
        });
    }
    assert_eq!(plan.phase(), Phase::Waiting);
    assert_eq!(take(&mut plan, Fact::Proceed), "run t");
}

#[test]
fn after_a_sign_in_the_agent_goes_on() {
    let mut steps = paused(linear(), &[("s", Who::SignIn)]);
    steps
        .extend([(answer(1, "s", "yes"), "refused: NotWaiting"), (Fact::Proceed, "start 2 after newest: -")]);
    play("sign-in", linear(), steps);
}

#[test]
fn a_message_can_throw_away_what_waits() {
    let discard = |text: &str| Fact::Send { input: text.to_owned(), when_busy: None, discard: true };
    let mut steps = paused(all(), BOTH);
    steps.extend([
        (discard("b"), "start 2 after newest: b, discards"),
        (named(2, "y"), ""),
        (answer(1, "c", "yes"), "refused: NotWaiting"),
    ]);
    play("it can", all(), steps);
    let mut steps = paused(linear(), BOTH);
    steps.push((discard("b"), "refused: Unsupported"));
    play("it cannot", linear(), steps);
}
