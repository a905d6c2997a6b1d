//! Whether a turn began whose start was never answered, as a table of what the session's turns say.

use serde_json::{Value as Json, json};

use crate::json::Value;
use crate::turn::lost_start::Finding;
use crate::turn::{Newest, StartTrace};

const SINCE: &str = "2026-07-01T10:00:00.000Z";
const BEFORE: &str = "2026-07-01T09:59:59.999Z";
const LONG_BEFORE: &str = "2026-07-01T08:00:00.000Z";
const RECENT: &str = "2026-07-01T10:00:30.500Z";

/// A turn of the session: id, the one it follows, input, when it was created.
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
    let trace = StartTrace { newest, since: SINCE.to_owned(), others: Vec::new() };
    let (turns, input) = (json!(turns).to_string(), input.to_string());
    let (turns, input) = (Value::parse(&turns).expect("JSON"), Value::parse(&input).expect("JSON"));
    match trace.find(turns.as_array().expect("a list"), &input, previous_turn_id) {
        Finding::Begun(turn) => turn.text("id").to_owned(),
        Finding::Absent => String::new(),
        Finding::Unclear => "?".to_owned(),
    }
}

/// The newest turn before (`?` if unknown), the turn's own predecessor as asked for, the session's turns, and
/// what is found. The input is always `hi`.
#[test]
fn the_turn_is_told_from_others() {
    let old = || turn("t1", None, "hi", LONG_BEFORE);
    let ours = |previous, created_at| turn("t2", previous, "hi", created_at);
    let cases = [
        // Nothing but what was there before.
        ("?", "", vec![], ""),
        ("", "", vec![], ""),
        ("t1", "", vec![old()], ""),
        ("?", "", vec![turn("t1", None, "something else", RECENT)], ""),
        ("t1", "", vec![turn("t2", Some("t1"), "something else", RECENT), old()], ""),
        // It is there, and new by the clock.
        ("?", "", vec![ours(Some("t1"), RECENT), old()], "t2"),
        ("", "", vec![ours(None, RECENT)], "t2"),
        ("t1", "", vec![ours(Some("t1"), RECENT), old()], "t2"),
        ("t1", "", vec![old(), ours(Some("t1"), RECENT)], "t2"),
        ("?", "", vec![ours(None, SINCE)], "t2"),
        // Another client's turn came in between.
        ("t1", "", vec![ours(Some("t3"), RECENT), turn("t3", Some("t1"), "else", RECENT), old()], "t2"),
        // The clock of one of both is wrong: the order tells.
        ("t1", "", vec![ours(Some("t1"), BEFORE), turn("t1", None, "hi", LONG_BEFORE)], "t2"),
        ("t1", "auto", vec![ours(Some("t1"), BEFORE), old()], "t2"),
        ("", "", vec![ours(None, BEFORE)], "t2"),
        ("", "auto", vec![ours(None, LONG_BEFORE)], "t2"),
        ("t1", "none", vec![ours(None, BEFORE), old()], "t2"),
        ("t1", "t0", vec![ours(Some("t0"), BEFORE), old()], "t2"),
        // Another client's branch: what is newer than the newest turn and says the same is this one.
        ("t1", "", vec![ours(None, BEFORE), old()], "t2"),
        // The list is of a branch that was begun elsewhere.
        ("t1", "", vec![turn("t3", None, "else", RECENT)], "?"),
        ("t1", "", vec![ours(None, RECENT)], "?"),
        ("t1", "none", vec![ours(None, RECENT)], "t2"),
        // The order says that it is another one.
        ("t1", "none", vec![ours(Some("t1"), BEFORE), old()], ""),
        ("t1", "t0", vec![ours(Some("t1"), BEFORE), old()], ""),
        ("", "none", vec![ours(Some("t1"), BEFORE)], ""),
        // Neither clock nor order tell.
        ("?", "", vec![ours(Some("t1"), BEFORE)], "?"),
        ("?", "none", vec![old()], "?"),
        // Of several it is the oldest: the others came later.
        ("", "", vec![turn("t3", Some("t2"), "hi", RECENT), ours(None, SINCE)], "t2"),
        ("?", "", vec![turn("t3", None, "hi", BEFORE), ours(None, RECENT)], "t2"),
        ("?", "", vec![ours(None, RECENT), turn("t3", None, "hi", BEFORE)], "t2"),
    ];
    for (before, previous, turns, expected) in cases {
        let found = find(newest(before), &turns, &message("hi"), previous);
        assert_eq!(found, expected, "newest `{before}`, follows `{previous}`: {turns:?}");
    }
}

/// Who says the same several times within a minute.
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

/// The input that was sent, the one that is kept, and whether they are the same. Servers add fields.
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
        let expected = if is_same { "t2" } else { "" };
        assert_eq!(find(Newest::None, &[kept_turn], &sent, ""), expected, "{sent} {kept}");
    }
    // A server that keeps no input cannot be asked.
    let mut without = turn("t2", None, "", RECENT);
    without.as_object_mut().expect("an object").remove("input");
    assert_eq!(find(Newest::None, &[without.clone()], &message("hi"), ""), "");
    assert_eq!(find(Newest::None, &[without], &json!([]), ""), "t2");
}

/// A time that cannot be read says nothing.
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
