//! The beginning of a run, the numbers of its events, and frames in envelopes.

use serde_json::{Value as Json, json};

use super::{
    Dialect, RunDecoder, Seen, awaken, begin, calling, finish, frame, play, run_start, step, text, tirea,
};
use crate::protocol::EventDecoder;
use crate::sse::Frame;

fn awaken_start(run: &str) -> Json {
    awaken(
        "run_start",
        json!({"thread_id": "s", "run_id": run, "identity": {"thread_id": "s", "run_id": run}}),
    )
}

#[test]
fn a_run_begins_as_a_turn() {
    let created = json!({
        "type": "turn.created", "id": "r:1", "turn_id": "r", "previous_turn_id": null, "thread_id": null,
        "created_at": "2026-11-21T10:02:07.046Z", "input": [], "state": {"status": "running"}
    });
    assert_eq!(begin([&run_start()]).events, [created]);

    let mut resumed = run_start();
    resumed["data"] = json!({"parent_run_id": "r0"});
    assert_eq!(begin([&resumed]).last()["previous_turn_id"], "r0");

    // awaken says no time.
    let seen = begin([&awaken("run_start", json!({"thread_id": "s", "run_id": "r", "parent_run_id": "r0"}))]);
    assert_eq!(seen.last()["turn_id"], "r");
    assert_eq!(seen.last()["previous_turn_id"], "r0");
    assert_eq!(seen.last().get("created_at"), None);
}

/// Section 5: a run that was suspended continues under its id.
#[test]
fn a_run_that_goes_on_begins_once() {
    let seen = begin([&awaken_start("r"), &awaken_start("r"), &step("m")]);
    assert_eq!(seen.types(), ["turn.created", "model.message"]);
}

#[test]
fn another_runs_beginning_is_passed_on() {
    let seen = begin([&run_start(), &awaken_start("other"), &step("")]);
    assert_eq!(seen.events[1]["turn_id"], "other");
    assert_eq!(seen.events[2]["id"], "r:3", "ids stay those of the first run");
}

#[test]
fn a_run_without_an_id_is_unknown() {
    for wire in [json!({"type": "run_start", "thread_id": "s"}), awaken("run_start", json!({"run_id": 5}))] {
        let seen = begin([&wire]);
        assert_eq!(seen.last()["type"], "unknown");
        assert_eq!(seen.last()["problem"], "`run_id` is missing");
    }
}

/// A stream that is read once more from its beginning repeats itself, under the same numbers and ids.
#[test]
fn a_restart_begins_anew() {
    let mut frames = vec![run_start()];
    frames.extend(calling("", "c"));
    frames.push(finish("natural_end"));
    let mut decoder = RunDecoder::default();
    let mut tell = || {
        let mut seen = Seen::default();
        for json in &frames {
            decoder.decode(&frame(&json.to_string()), &mut seen);
        }
        decoder.restart();
        seen
    };
    let first = tell();
    assert_eq!(first, tell());
    assert_eq!(first.last()["type"], "turn.done");
}

/// Section 5: an event store's frames hold those of the stream.
#[test]
fn frames_of_an_event_store_are_unwrapped() {
    let wrap = |kind: &str, payload: &Json| {
        json!({
            "event_id": "e", "scopes": [], "cursors_by_scope": [], "event_kind": kind, "payload": payload,
            "run_id": "r", "origin": "runtime", "visibility": "public", "schema_version": 1, "created_at": 5
        })
    };
    let plain = [
        awaken_start("r"),
        awaken("step_start", json!({"message_id": "m"})),
        awaken("text_delta", json!({"delta": "a"})),
    ];
    let wrapped: Vec<Json> = plain.iter().map(|payload| wrap("RunStarted", payload)).collect();
    let (plain, wrapped) = (begin(&plain), begin(&wrapped));
    assert_eq!(plain.events, wrapped.events);
    assert_eq!(plain.events.len(), 3);

    let others = [
        json!({"kind": "RunStarted"}),
        json!(null),
        json!([]),
        json!({"type": "text_delta", "data": {"delta": "a"}}),
    ];
    for payload in others {
        assert_eq!(play([&wrap("Other", &payload)]), Seen::default(), "{payload}");
    }
    // An envelope in an envelope is none.
    let twice = wrap("RunStarted", &wrap("RunStarted", &awaken_start("r")));
    assert_eq!(play([&twice]), Seen::default());
}

/// A store that cannot continue its stream has not ended the run.
#[test]
fn a_stores_failure_is_not_the_runs() {
    let mut decoder = RunDecoder::default();
    let mut seen = Seen::default();
    decoder.decode(&frame(&awaken_start("r").to_string()), &mut seen);
    let data = r#"{"error":"cursor expired: 5"}"#;
    decoder.decode(&Frame { event: "error", data, id: None, has_own_id: false }, &mut seen);
    decoder.end(&mut seen);
    assert_eq!(seen.types(), ["turn.created", "server.error"]);
    assert_eq!(seen.last()["message"], "cursor expired: 5");
}

/// Section 1.2: only `type` and `data` are what they seem.
#[test]
fn envelopes_are_not_believed() {
    let honest: Dialect =
        |kind, data| json!({"type": kind, "run_id": "r", "thread_id": "s", "seq": 3, "data": data});
    let bare: Dialect = |kind, data| json!({"type": kind, "data": data});
    let tell = |of: Dialect| {
        let step = of("step_start", json!({"message_id": "m"}));
        let error = of("error", json!({"message": "e"}));
        play([&run_start(), &step, &of("text_delta", json!({"delta": "a"})), &error])
    };
    assert_eq!(tell(tirea), tell(honest));
    assert_eq!(tell(bare), tell(honest));
}

/// Both dialects are read whatever server it is said to be, even mixed.
#[test]
fn dialects_are_told_apart_frame_by_frame() {
    let mixed = [
        run_start(),
        awaken("step_start", json!({"message_id": "m"})),
        text("a"),
        awaken("text_delta", json!({"delta": "b"})),
    ];
    let seen = begin(&mixed);
    assert_eq!(seen.text("m", "content"), "ab");
    assert_eq!(seen.pieces, 2);
}
