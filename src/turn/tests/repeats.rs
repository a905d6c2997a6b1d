//! The driver, rule by rule: turns whose conversation the client keeps (protocol note of AG-UI, section 7). Servers
//! store nothing of a stream, except those that repeat it from the beginning.

use serde_json::{Value as Json, json};

use super::play::Act::{self, Aborted, Breaks, Brings, Fails, Unsent, Waited};
use super::play::{Play, http, network, of_code};
use crate::error::ErrorCode;
use crate::json::Value;
use crate::protocol::Protocol;
use crate::protocol::ag_ui::AgUi;
use crate::turn::{Reconnect, TurnStatus};

/// A turn whose start is sent, in a session with these terms.
fn starting(terms: &Json) -> Play {
    let protocol = AgUi::new().with_terms(&terms.to_string());
    let mut play = Play::of(Box::new(protocol), Value::from("hi"), "");
    play.driver.set_start("bot", "t");
    play.driver.set_terms(&terms.to_string());
    assert_eq!(play.stream(Reconnect::default()), "post stream");
    play
}

fn forgotten() -> Play {
    starting(&json!({}))
}

fn repeated() -> Play {
    starting(&json!({"recovery": "connect"}))
}

fn frames(frames: &[Json]) -> String {
    frames.iter().fold(String::new(), |stream, frame| stream + "data: " + &frame.to_string() + "\n\n")
}

fn run(text: &str, has_ended: bool) -> String {
    let mut all = vec![
        json!({"type": "RUN_STARTED", "threadId": "s", "runId": "t"}),
        json!({"type": "TEXT_MESSAGE_START", "messageId": "m"}),
        json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": text}),
    ];
    if has_ended {
        all.push(json!({"type": "TEXT_MESSAGE_END", "messageId": "m"}));
        all.push(json!({"type": "RUN_FINISHED", "threadId": "s", "runId": "t"}));
    }
    frames(&all)
}

#[test]
fn the_end_of_a_run_counts_however_its_stream_ends() {
    let acts: [Act; 3] = [
        Brings(run("a", true)),
        Breaks(run("a", true), network()),
        // The stream is left once its grace is over.
        Breaks(run("a", true), of_code(ErrorCode::Timeout)),
    ];
    for act in acts {
        let mut play = forgotten();
        play.plays("ended", &[(act, "end done")]);
        assert_eq!(play.content(), "a");
    }
    let mut play = forgotten();
    play.driver.reader_mut().push(run("a", false).as_bytes()).expect("it is small");
    assert_eq!(play.driver.reader().grace(), 0);
    let end = frames(&[json!({"type": "RUN_FINISHED"})]);
    play.driver.reader_mut().push(end.as_bytes()).expect("it is small");
    assert_eq!(play.driver.reader().grace(), 1000);
    assert_eq!(play.driver.reader().machine().status(), TurnStatus::Running);
}

#[test]
fn what_is_kept_nowhere_is_lost() {
    play_all(forgotten, &[(Breaks(run("a", false), network()), "end incomplete: incomplete")]);
    play_all(forgotten, &[(Fails(network()), "end incomplete: incomplete")]);
    // A server with this response is not an agent, or has begun nothing.
    for begin in [forgotten as fn() -> Play, repeated] {
        play_all(begin, &[(Brings(String::new()), "end incomplete: unexpected_response")]);
    }
}

#[test]
fn a_stream_that_breaks_within_its_first_frame_may_have_begun_a_run() {
    let piece = || Brings("data: {\"type".to_owned());
    play_all(forgotten, &[(piece(), "end incomplete: incomplete")]);
    let found = (Brings(run("a", true)), "end done");
    play_all(repeated, &[(piece(), "wait 250 #1 incomplete"), (Waited, "repeat after 0"), found]);
}

#[test]
fn a_repeated_run_goes_on_where_it_broke() {
    let mut play = repeated();
    play.plays(
        "broken",
        &[
            (Breaks(run("a", false), network()), "wait 250 #1 network"),
            (Waited, "repeat after 3"),
            (Breaks(run("ab", false), network()), "wait 250 #1 network"),
            (Waited, "repeat after 4"),
            (Brings(run("abc", true)), "end done"),
        ],
    );
    let delivered = ["turn.created", "model.message m", "+a", "+b", "+c", "model.message.delta", "turn.done"];
    assert_eq!(play.delivered(), delivered);
    // A clean end of the stream without the run's end also counts as a break.
    let mut play = repeated();
    play.plays(
        "cut",
        &[
            (Brings(run("a", false)), "wait 250 #1 incomplete"),
            (Waited, "repeat after 3"),
            (Brings(run("a", true)), "end done"),
        ],
    );
    assert_eq!(play.content(), "a");
}

#[test]
fn a_server_that_repeats_nothing_is_given_up() {
    let broken = (Breaks(run("a", false), network()), "wait 250 #1 network");
    let refused = (Fails(http(404)), "end incomplete: http 404");
    play_all(repeated, &[broken.clone(), (Waited, "repeat after 3"), refused]);
    let mut play = repeated();
    assert_eq!(play.next(broken.0), broken.1);
    for attempt in 2..=10 {
        assert_eq!(play.next(Waited), "repeat after 3");
        let wait = play.next(Brings(String::new()));
        assert!(wait.contains(&format!("#{attempt} incomplete")), "{wait}");
    }
    play.plays(
        "given up",
        &[(Waited, "repeat after 3"), (Brings(String::new()), "end incomplete: incomplete")],
    );
    assert_eq!(play.content(), "a");
}

/// A start that may have arrived is never sent again.
#[test]
fn a_lost_start_is_looked_for() {
    let lost = (Fails(network()), "wait 250 #1 network");
    play_all(repeated, &[lost.clone(), (Waited, "repeat after 0"), (Brings(run("ab", true)), "end done")]);
    let absent = |wait| (Brings(String::new()), wait);
    let script = [
        lost.clone(),
        (Waited, "repeat after 0"),
        absent("wait 500 #2 unexpected_response"),
        (Waited, "repeat after 0"),
        absent("wait 1000 #3 unexpected_response"),
        (Waited, "repeat after 0"),
        absent("end incomplete: incomplete"),
    ];
    let mut play = repeated();
    play.plays("absent", &script);
    assert!(play.reported().contains("may have begun"), "{}", play.reported());
    // The next run looks for it instead of starting it.
    let again = play.stream(Reconnect::default());
    assert_eq!(again, "repeat after 0");
    play.plays("found", &[(Brings(run("ab", true)), "end done")]);
    // Without such an endpoint, the turn cannot be found.
    play_all(
        repeated,
        &[lost.clone(), (Waited, "repeat after 0"), (Fails(http(404)), "end incomplete: incomplete 404")],
    );
    // If the search is left, the turn may have begun.
    play_all(repeated, &[lost.clone(), (Aborted, "end incomplete: aborted")]);
    play_all(repeated, &[lost, (Waited, "repeat after 0"), (Aborted, "end incomplete: aborted")]);
    play_all(repeated, &[(Unsent, "end unstarted")]);
    play_all(repeated, &[(Fails(http(422)), "end unstarted: http 422")]);
}

/// A server that returns the current state of the thread.
fn told() -> Play {
    starting(&json!({"recovery": "state"}))
}

fn thread(text: Option<&str>) -> Act {
    let user = json!({"id": "u", "role": "user", "content": "hi"});
    let said = text.map(|text| json!({"id": "other", "role": "assistant", "content": text}));
    let messages: Vec<Json> = [user].into_iter().chain(said).collect();
    Act::Answers(json!({"messages": messages, "state": {}}))
}

#[test]
fn a_thread_is_read_until_it_has_the_run() {
    let mut play = told();
    play.plays(
        "told later",
        &[
            (Breaks(run("a", false), network()), "wait 250 #1 network"),
            (Waited, "repeat after 3"),
            (thread(None), "wait 500 for history"),
            (Waited, "repeat after 3"),
            (thread(None), "wait 1000 for history"),
            (Waited, "repeat after 3"),
            (Fails(http(503)), "wait 250 #1 http 503"),
            (Waited, "repeat after 3"),
            (thread(Some("abc")), "end done"),
        ],
    );
    let delivered = ["turn.created", "model.message m", "+a", "+bc", "model.message.delta", "turn.done"];
    assert_eq!(play.delivered(), delivered);
    // It is found by its input.
    let lost = (Fails(network()), "wait 250 #1 network");
    let goes_on = (thread(None), "wait 500 for history");
    let found = (thread(Some("abc")), "end done");
    let again = |place| (Waited, place);
    play_all(told, &[lost.clone(), again("repeat after 0"), goes_on, again("repeat after 1"), found]);
    // The turn cannot be found without such an endpoint, or if another server responds.
    let broken = (Breaks(run("a", false), network()), "wait 250 #1 network");
    let refused = (Fails(http(404)), "end incomplete: http 404");
    play_all(told, &[broken, (Waited, "repeat after 3"), refused]);
}

#[test]
fn a_thread_that_stays_the_same_is_given_up() {
    let mut play = told();
    assert_eq!(play.next(Breaks(run("a", false), network())), "wait 250 #1 network");
    for _ in 0..300 {
        assert_eq!(play.next(Waited), "repeat after 3");
        let wait = play.next(thread(None));
        assert!(wait.ends_with("for history"), "{wait}");
    }
    play.plays("given up", &[(Waited, "repeat after 3"), (thread(None), "end incomplete: incomplete")]);
    assert_eq!(play.content(), "a");
}

fn play_all(begin: fn() -> Play, script: &[(Act, &str)]) {
    begin().plays("turn", script);
}
