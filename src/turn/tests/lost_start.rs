//! Whether a start without a response began a turn, as a table of what the session's turns show.

use serde_json::{Value as Json, json};

use crate::json::Value;
use crate::turn::lost_start::{Finding, Sent};
use crate::turn::{Newest, StartTrace};

/// When the start was sent, by this machine's clock: 2026-07-01T10:00:10Z.
const STARTED_AT: u64 = 1_782_900_010_000;
/// The server's clock may be behind by this much.
const SINCE: &str = "2026-07-01T10:00:00.000Z";
const BEFORE: &str = "2026-07-01T09:59:59.999Z";
const LONG_BEFORE: &str = "2026-07-01T08:00:00.000Z";
const RECENT: &str = "2026-07-01T10:00:30.500Z";

/// A turn of the session: id, previous turn, input, creation time.
fn turn(id: &str, previous: Option<&str>, input: &str, created_at: &str) -> Json {
    json!({"id": id, "previous_turn_id": previous, "input": message(input), "created_at": created_at,
           "state": {"status": "running"}})
}

fn message(text: &str) -> Json {
    json!([{"type": "user.message", "content": text}])
}

fn newest(id: &str) -> Newest {
    match id {
        "?" => Newest::Unknown,
        "" => Newest::None,
        id => Newest::Turn(id.to_owned()),
    }
}

/// What is found: the id of a turn, nothing, or `?`.
fn find(newest: Newest, turns: &[Json], input: &Json, previous_turn_id: &str) -> String {
    let trace = StartTrace { newest, started_at: STARTED_AT, ..StartTrace::default() };
    found(&trace, turns, input, previous_turn_id)
}

fn found(trace: &StartTrace, turns: &[Json], input: &Json, previous_turn_id: &str) -> String {
    let (turns, input) = (json!(turns).to_string(), input.to_string());
    let (turns, input) = (Value::parse(&turns).expect("JSON"), Value::parse(&input).expect("JSON"));
    let sent = Sent { input: input.as_array().expect("a list"), previous_turn_id };
    match trace.find(turns.as_array().expect("a list"), Some(&sent)) {
        Finding::Begun(turn) => turn.text("id").to_owned(),
        Finding::Absent => String::new(),
        Finding::Unclear => "?".to_owned(),
    }
}

/// The newest turn before (`?` if unknown), the requested previous turn, the session's turns, and the result. The input
/// is always `hi`.
#[test]
fn the_turn_is_told_from_others() {
    let old = || turn("t1", None, "hi", LONG_BEFORE);
    let ours = |previous, created_at| turn("t2", previous, "hi", created_at);
    let theirs = |previous, created_at| turn("t3", previous, "hi", created_at);
    let cases = [
        // Only turns that were there before.
        ("?", "", vec![], ""),
        ("", "", vec![], ""),
        ("t1", "", vec![old()], ""),
        ("?", "", vec![turn("t1", None, "something else", LONG_BEFORE)], ""),
        ("t1", "", vec![turn("t2", Some("t1"), "something else", RECENT), old()], ""),
        // It is the only one.
        ("", "", vec![ours(None, RECENT)], "t2"),
        ("", "auto", vec![ours(None, LONG_BEFORE)], "t2"),
        ("t1", "", vec![ours(Some("t1"), RECENT), old()], "t2"),
        ("t1", "auto", vec![old(), ours(Some("t1"), RECENT)], "t2"),
        ("t1", "none", vec![ours(None, RECENT), old()], "t2"),
        ("t1", "t0", vec![ours(Some("t0"), RECENT), old()], "t2"),
        // Another client's turn came in between.
        ("t1", "", vec![ours(Some("t3"), RECENT), turn("t3", Some("t1"), "else", RECENT), old()], "t2"),
        // The turns before the start are unknown, so this may be one of them.
        ("?", "", vec![ours(Some("t1"), RECENT), old()], "?"),
        ("?", "", vec![ours(None, RECENT)], "?"),
        ("?", "", vec![ours(Some("t1"), BEFORE)], "?"),
        ("?", "none", vec![old()], "?"),
        // Another client may have sent the same input since the newest turn was read.
        ("t1", "", vec![ours(Some("t1"), BEFORE), old()], "?"),
        ("t1", "none", vec![ours(None, BEFORE), old()], "?"),
        ("t1", "t0", vec![ours(Some("t0"), BEFORE), old()], "?"),
        // If several match, it is unknown which one it is, in any order.
        ("", "", vec![theirs(Some("t2"), RECENT), ours(None, SINCE)], "?"),
        ("", "", vec![ours(None, SINCE), theirs(Some("t2"), RECENT)], "?"),
        ("t1", "", vec![theirs(Some("t2"), RECENT), ours(Some("t1"), RECENT), old()], "?"),
        ("t1", "", vec![theirs(Some("t1"), RECENT), ours(Some("t1"), RECENT), old()], "?"),
        ("t1", "", vec![theirs(Some("t1"), BEFORE), ours(Some("t3"), RECENT), old()], "?"),
        ("?", "", vec![ours(None, RECENT), theirs(None, BEFORE)], "?"),
        // The previous turns show that some are from other clients.
        ("t1", "", vec![theirs(None, RECENT), ours(Some("t1"), RECENT), old()], "t2"),
        (
            "t1",
            "",
            vec![
                theirs(Some("t0"), RECENT),
                ours(Some("t1"), RECENT),
                turn("t1", Some("t0"), "hi", LONG_BEFORE),
            ],
            "t2",
        ),
        ("t1", "none", vec![theirs(Some("t2"), RECENT), ours(None, RECENT), old()], "t2"),
        ("t1", "t0", vec![theirs(Some("t2"), RECENT), ours(Some("t0"), RECENT), old()], "t2"),
        ("t1", "none", vec![ours(Some("t1"), RECENT), old()], ""),
        ("t1", "t0", vec![ours(Some("t1"), RECENT), old()], ""),
        // It has no previous turn, and the server may never return one.
        ("t1", "", vec![ours(None, RECENT), old()], "?"),
        // Its previous turn is not in the list.
        ("t1", "", vec![ours(Some("t9"), RECENT), old()], "?"),
        // Another client may have started a branch meanwhile, which hides it.
        ("?", "", vec![turn("t1", None, "something else", RECENT)], "?"),
        ("", "", vec![turn("t1", None, "something else", RECENT)], "?"),
        ("", "none", vec![ours(Some("t1"), RECENT)], "?"),
        // The list is of a branch that another client started.
        ("t1", "", vec![turn("t3", None, "else", RECENT)], "?"),
        ("t1", "", vec![ours(None, RECENT)], "?"),
        ("t1", "none", vec![turn("t3", None, "else", RECENT)], "?"),
        // It started that branch itself, as requested.
        ("t1", "none", vec![ours(None, RECENT)], "t2"),
        ("t1", "t0", vec![ours(Some("t0"), RECENT), turn("t0", None, "hi", LONG_BEFORE)], "t2"),
        ("t1", "none", vec![turn("t3", Some("t2"), "else", RECENT), ours(None, RECENT)], "?"),
        ("t1", "none", vec![ours(None, BEFORE)], "?"),
    ];
    for (before, previous, turns, expected) in cases {
        for turns in [turns.clone(), turns.into_iter().rev().collect()] {
            let found = find(newest(before), &turns, &message("hi"), previous);
            assert_eq!(found, expected, "newest `{before}`, follows `{previous}`: {turns:?}");
        }
    }
}

/// Several turns have the same creation time: their previous turns show the order.
#[test]
fn turns_of_one_second_are_told_by_what_they_follow() {
    let at = |id, previous| turn(id, previous, "hi", RECENT);
    let others = || vec![at("t2", Some("t1")), at("t1", Some("t0")), at("t0", None)];
    assert_eq!(find(newest("t2"), &others(), &message("hi"), ""), "");
    for ours in [at("t3", Some("t2")), at("t3", Some("t9"))] {
        let mut turns = others();
        turns.push(ours.clone());
        turns.push(turn("t9", Some("t2"), "else", RECENT));
        assert_eq!(find(newest("t2"), &turns, &message("hi"), ""), "t3", "{ours}");
        turns.push(at("t4", Some("t3")));
        assert_eq!(find(newest("t2"), &turns, &message("hi"), ""), "?", "{ours}");
    }
    // It may have been there before.
    let beside = [at("t2", Some("t1")), at("t1", None), at("t3", Some("t1"))];
    assert_eq!(find(newest("t2"), &beside, &message("hi"), "t1"), "?");
}

/// If this client started the newest turn, that turn shows the server's clock. If it was read just before the start,
/// the order alone decides.
#[test]
fn a_clock_that_is_wrong_is_not_heeded() {
    let hour = 3_600_000;
    let known = StartTrace { newest: newest("t1"), started_at: STARTED_AT, ..StartTrace::default() };
    let mut turns = vec![turn("t2", Some("t1"), "hi", BEFORE), turn("t1", None, "hi", LONG_BEFORE)];
    let find = |turns: &[Json], trace: &StartTrace| found(trace, turns, &message("hi"), "");
    assert_eq!(find(&turns, &known), "?");
    assert_eq!(find(&turns, &StartTrace { started_at: 0, ..known.clone() }), "t2");
    // It was started and created two hours before, whatever the time was.
    let own = StartTrace { newest_started_at: STARTED_AT - 2 * hour, ..known.clone() };
    assert_eq!(find(&turns, &own), "t2");
    let slow = StartTrace { started_at: STARTED_AT + hour, newest_started_at: STARTED_AT - hour, ..known };
    assert_eq!(find(&turns, &slow), "t2");
    // Another client sent it long before the start, although it is recent by this machine's clock.
    let fast = StartTrace { newest_started_at: STARTED_AT - 3 * hour, ..own.clone() };
    turns[0]["created_at"] = RECENT.into();
    assert_eq!(find(&turns, &fast), "?");
    // The newest turn's time cannot be read.
    turns[1]["created_at"] = Json::Null;
    assert_eq!(find(&turns, &own), "t2");
    turns[0]["created_at"] = BEFORE.into();
    assert_eq!(find(&turns, &own), "?");
}

/// A list that grew while it was read has a turn twice.
#[test]
fn a_turn_that_is_listed_twice_is_one() {
    let ours = || turn("t2", Some("t1"), "hi", RECENT);
    let turns = [ours(), ours(), turn("t1", None, "hi", LONG_BEFORE)];
    assert_eq!(find(newest("t1"), &turns, &message("hi"), ""), "t2");
}

/// The turns, whether they are all turns, and the newest of them: none, `?`, or the note that the rest of the list
/// decides.
#[test]
fn the_newest_turn_is_at_either_end_of_a_list() {
    let at = |id, previous, created_at| turn(id, previous, "hi", created_at);
    let first = || at("t1", None, LONG_BEFORE);
    let second = || at("t2", Some("t1"), BEFORE);
    let third = || at("t3", Some("t2"), RECENT);
    let cases = [
        (vec![], true, ""),
        (vec![first()], true, "t1"),
        (vec![first()], false, "more"),
        (vec![], false, "more"),
        (vec![third(), second()], false, "t3"),
        (vec![third(), second(), first()], true, "t3"),
        (vec![first(), second()], false, "more"),
        (vec![first(), second(), third()], true, "t3"),
        // The same creation time: the previous turns decide.
        (vec![at("t2", Some("t1"), RECENT), at("t1", None, RECENT)], false, "t2"),
        (vec![at("t1", None, RECENT), at("t2", Some("t1"), RECENT)], true, "t2"),
        (vec![at("t1", None, RECENT), at("t9", None, RECENT)], false, "more"),
        (vec![at("t1", None, RECENT), at("t9", None, RECENT)], true, "?"),
        (vec![at("t1", None, ""), at("t9", None, RECENT)], true, "?"),
        // The clock went back between them.
        (vec![at("t2", Some("t1"), BEFORE), at("t1", None, RECENT)], false, "t2"),
    ];
    for (turns, is_all, expected) in cases {
        let json = json!(turns).to_string();
        let value = Value::parse(&json).expect("JSON");
        let newest = match Newest::of(value.as_array().expect("a list"), is_all) {
            None => "more".to_owned(),
            Some(Newest::Unknown) => "?".to_owned(),
            Some(Newest::None) => String::new(),
            Some(Newest::Turn(id)) => id,
        };
        assert_eq!(newest, expected, "{turns:?}");
    }
}

/// The same input several times within a minute.
#[test]
fn what_is_older_than_the_newest_turn_is_not_what_was_started_after_it() {
    let before = || {
        vec![
            turn("t2", Some("t1"), "hi", "2026-07-01T10:00:20.000Z"),
            turn("t1", None, "hi", "2026-07-01T10:00:10.000Z"),
        ]
    };
    let input = message("hi");
    assert_eq!(find(newest("t2"), &before(), &input, ""), "");
    let mut after = before();
    after.insert(0, turn("t3", Some("t2"), "hi", RECENT));
    for _ in 0..after.len() {
        after.rotate_left(1);
        assert_eq!(find(newest("t2"), &after, &input, ""), "t3", "{after:?}");
    }
}

/// The sent input, the stored one, and whether they are the same. Servers add fields.
#[test]
fn inputs_are_compared_by_what_was_sent() {
    let parts = json!([{"type": "user.message", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]);
    let allow = |call: &str| {
        json!([{"type": "user.tool_approval", "thread_id": "main", "tool_call_id": call,
                "approval": {"status": "allow"}}])
    };
    let cases = [
        (message("hi"), message("hi"), true),
        (message("hi"), message("hi "), false),
        (message("hi"), json!([{"id": "i", "type": "user.message", "content": "hi", "file": null}]), true),
        (message("hi"), json!([{"type": "user.message"}]), false),
        (message("hi"), json!([]), false),
        (message("hi"), json!([message("hi")[0], message("hi")[0]]), false),
        (json!([]), json!([]), true),
        (json!([]), message("hi"), false),
        (parts.clone(), parts.clone(), true),
        (parts, json!([{"type": "user.message", "content": [{"type": "text", "text": "a"}]}]), false),
        (allow("c"), allow("c"), true),
        (allow("c"), allow("d"), false),
    ];
    for (sent, kept, is_same) in cases {
        let mut kept_turn = turn("t2", None, "", RECENT);
        kept_turn["input"] = kept.clone();
        let expected = if is_same { "t2" } else { "?" };
        assert_eq!(find(Newest::None, &[kept_turn], &sent, ""), expected, "{sent} {kept}");
    }
    // A server that stores no input.
    let mut without = turn("t2", None, "", RECENT);
    without.as_object_mut().expect("an object").remove("input");
    assert_eq!(find(Newest::None, &[without.clone()], &message("hi"), ""), "?");
    assert_eq!(find(Newest::None, &[without], &json!([]), ""), "t2");
}

/// An unreadable time proves nothing.
#[test]
fn times_that_cannot_be_read_are_not_recent() {
    for created_at in ["", "now", "2026-07-01"] {
        let turns = [turn("t2", Some("t1"), "hi", created_at)];
        assert_eq!(find(Newest::Unknown, &turns, &message("hi"), ""), "?", "{created_at}");
        assert_eq!(find(Newest::None, &turns, &message("hi"), ""), "t2", "{created_at}");
    }
    let mut timeless = turn("t2", Some("t1"), "hi", RECENT);
    timeless["created_at"] = Json::Null;
    assert_eq!(find(Newest::Unknown, &[timeless, json!(null), json!(5)], &message("hi"), ""), "?");
}
