//! Errors, and how runs end.

use serde_json::{Value as Json, json};

use super::{
    DIALECTS, awaken, begin, call_start, calling, complete, finish, play, run_finish, run_start, step,
    step_end, text, tirea,
};

fn state_of(data: Json) -> Json {
    play([&run_start(), &step("m"), &text("a"), &run_finish(data)]).last()["state"].clone()
}

#[test]
fn an_answer_is_the_output() {
    let usage = |prompt: u64| {
        tirea(
            "inference_complete",
            json!({"usage": {"prompt_tokens": prompt, "completion_tokens": 2, "cache_read_tokens": 1}}),
        )
    };
    let result = json!({"response": "The answer ☃"});
    let end = run_finish(json!({"result": result, "termination": {"type": "natural_end"}}));
    let seen =
        play([&run_start(), &step("m"), &usage(10), &step_end(), &step("n"), &usage(20), &step_end(), &end]);
    let expected = json!({
        "type": "turn.done", "id": "r:6", "thread_id": null, "created_at": "2026-11-21T10:02:07.144Z",
        "state": {
            "status": "done",
            "output": {"type": "model.message", "id": "n", "thread_id": "main", "content": "The answer ☃", "finish_reason": "stop"},
            "required_actions": [],
            "metrics": {"total_input_tokens": 30, "total_output_tokens": 4, "total_tokens": 34, "total_cache_read_tokens": 2},
            "completed_at": "2026-11-21T10:02:07.144Z",
            "termination": {"type": "natural_end"},
            "result": result
        }
    });
    assert_eq!(*seen.last(), expected);
}

#[test]
fn every_normal_end_is_done() {
    let stopped = json!({"type": "stopped", "value": {"code": "tool_called", "detail": "finish"}});
    for termination in [
        json!({"type": "natural_end"}),
        json!({"type": "behavior_requested"}),
        json!({"type": "plugin_requested"}),
        stopped,
    ] {
        let state = state_of(json!({"termination": termination}));
        assert_eq!(state["status"], "done");
        assert_eq!(state["output"], json!(null));
        assert_eq!(state["required_actions"], json!([]));
        assert_eq!(state["termination"], termination);
        assert_eq!(state.get("result"), None);
    }
    let state = state_of(
        json!({"termination": {"type": "natural_end", "value": null}, "result": {"response": "", "status": "done"}}),
    );
    assert_eq!(state["output"], json!(null), "an empty answer is none");
    assert_eq!(state["result"]["status"], "done");
}

#[test]
fn other_ends_are_what_they_are() {
    let cases = [
        (json!({"type": "error", "value": "boom"}), "boom"),
        (json!({"type": "error"}), "the run failed"),
        (json!({"type": "blocked", "value": "unsafe tool"}), "the run was blocked: unsafe tool"),
        (json!({"type": "blocked"}), "the run was blocked"),
        (json!({"type": "exploded"}), "the run ended with the unknown termination `exploded`"),
        (json!({}), "the run ended, and the server did not say how"),
        (json!({"type": 5}), "the run ended, and the server did not say how"),
        (json!("natural_end"), "the run ended, and the server did not say how"),
    ];
    for (termination, message) in cases {
        let state = state_of(json!({"termination": termination}));
        assert_eq!(state["status"], "error", "{termination}");
        assert_eq!(state["message"], message);
        assert_eq!(state.get("code"), None);
    }
    let state = state_of(json!({"termination": {"type": "cancelled"}}));
    assert_eq!(
        state,
        json!({"status": "cancelled", "reason": null, "completed_at": "2026-11-21T10:02:07.144Z", "termination": {"type": "cancelled"}})
    );
}

/// Section 1.5: the end is authoritative, and one failure is reported, not two.
#[test]
fn an_error_before_the_end_gives_its_code() {
    for dialect in DIALECTS {
        let error = dialect("error", json!({"message": "boom", "code": "LLM_ERROR"}));
        let seen = play([
            &run_start(),
            &step("m"),
            &error,
            &run_finish(json!({"termination": {"type": "error", "value": "boom"}})),
        ]);
        assert_eq!(
            seen.events[2],
            json!({"type": "server.error", "id": "r:3", "thread_id": null, "message": "boom", "code": "LLM_ERROR"})
        );
        assert_eq!(seen.of("turn.done").len(), 1);
        assert_eq!(seen.last()["state"]["code"], "LLM_ERROR");
        // A run that continued in spite of it has not failed.
        let seen = play([&run_start(), &error, &finish("natural_end")]);
        assert_eq!(seen.last()["state"]["status"], "done");
    }
    let seen = play([&run_start(), &tirea("error", json!({"message": "boom"})), &finish("error")]);
    assert_eq!(seen.last()["state"]["message"], "boom");
}

/// A message that the model did not get to the end of ends with the run.
#[test]
fn an_open_message_ends_with_the_run() {
    let cases = [
        ("cancelled", "cancelled"),
        ("error", "error"),
        ("natural_end", "stop"),
        ("stopped", "stop"),
        ("suspended", "stop"),
        ("newer", "error"),
    ];
    for (kind, reason) in cases {
        let seen = play([&run_start(), &step("m"), &text("a"), &finish(kind)]);
        let last =
            json!({"type": "model.message.delta", "id": "m", "thread_id": "main", "finish_reason": reason});
        assert_eq!(seen.events[seen.events.len() - 2], last);
        let finished = play([&run_start(), &step("m"), &complete(), &finish(kind)]);
        assert_eq!(finished.events.len(), 4, "{kind}: it has ended already");
        let closed = play([&run_start(), &step("m"), &step_end(), &finish(kind)]);
        assert_eq!(closed.events[2]["finish_reason"], reason);
    }
    let seen = play([&step("m"), &call_start("c"), &finish("natural_end")]);
    assert_eq!(seen.events[2]["finish_reason"], "tool_calls");
}

/// Section 1.5: a run that another one took the place of ends by an error alone.
#[test]
fn an_error_and_the_streams_end_are_an_end() {
    let error = tirea("error", json!({"code": "STATE_ERROR", "message": "Version conflict"}));
    let frames = [run_start(), step("m"), text("a"), error];
    assert_eq!(begin(&frames).last()["type"], "server.error", "not before the stream's end");
    let seen = play(&frames);
    assert_eq!(
        seen.events[4],
        json!({"type": "model.message.delta", "id": "m", "thread_id": "main", "finish_reason": "error"})
    );
    assert_eq!(
        *seen.last(),
        json!({"type": "turn.done", "id": "r:6", "thread_id": null,
        "state": {"status": "error", "message": "Version conflict", "code": "STATE_ERROR"}})
    );
}

/// Section 1.4: the relay has its own form.
#[test]
fn a_relays_error_is_an_error() {
    let relay = json!({"type": "error", "message": "upstream gone", "code": "RELAY_ERROR"});
    let seen = play([&run_start(), &relay]);
    assert_eq!(seen.types(), ["turn.created", "server.error", "turn.done"]);
    assert_eq!(
        seen.last()["state"],
        json!({"status": "error", "message": "upstream gone", "code": "RELAY_ERROR"})
    );
    for wire in [
        json!({"type": "error"}),
        json!({"type": "error", "data": {}}),
        json!({"type": "error", "message": 5}),
    ] {
        let seen = play([&run_start(), &wire]);
        assert_eq!(seen.types(), ["turn.created", "unknown"], "{wire}");
    }
}

/// A bare end of the stream is no end of the run.
#[test]
fn a_drop_is_not_an_end() {
    for frames in [&[][..], &[run_start()], &[run_start(), step("m"), text("a")]] {
        assert_eq!(play(frames), begin(frames));
    }
}

/// Section 1.5: what cannot even begin fails without a beginning.
#[test]
fn a_failure_before_the_beginning_is_an_end() {
    let seen = play([
        &tirea("error", json!({"message": "no such model"})),
        &run_finish(json!({"termination": {"type": "error", "value": "no such model"}})),
    ]);
    assert_eq!(seen.types(), ["server.error", "turn.done"]);
    assert_eq!(seen.last()["id"], "r:2");
    assert_eq!(seen.last()["state"]["message"], "no such model");
}

#[test]
fn an_answer_without_a_message_has_an_id() {
    let seen = play([
        &run_start(),
        &run_finish(json!({"result": {"response": "x"}, "termination": {"type": "natural_end"}})),
    ]);
    assert_eq!(seen.last()["state"]["output"]["id"], "r:2");
}

#[test]
fn another_runs_end_is_not_this_ones() {
    let mut other = finish("natural_end");
    other["run_id"] = "other".into();
    let seen = play([&run_start(), &other]);
    assert_eq!(seen.types(), ["turn.created", "unknown"]);
    assert_eq!(seen.last()["problem"], "it belongs to another run");
}

/// Section 5: a run that waited continues, and fails or ends again.
#[test]
fn a_run_that_goes_on_ends_again() {
    let start = awaken("run_start", json!({"run_id": "r", "thread_id": "s"}));
    let mut frames = vec![start.clone(), awaken("error", json!({"message": "e"})), start];
    frames.extend(calling("m", "c"));
    let seen = play(&frames);
    assert_eq!(seen.of("turn.done").len(), 0, "an error before it went on is not its end");
    frames.push(awaken(
        "run_finish",
        json!({"run_id": "r", "thread_id": "s", "termination": {"type": "natural_end"}}),
    ));
    let seen = play(&frames);
    assert_eq!(seen.last()["state"]["status"], "done");
    assert_eq!(seen.last().get("created_at"), None);
}
