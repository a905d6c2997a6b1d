//! Beginnings and ends of runs (sections 2, 3 and 8).

use super::*;
use crate::ErrorCode;

#[test]
fn a_run_without_an_end_has_not_succeeded() {
    let turn = Turn::new().feed(&[started()]).feed(&says("m", "Hel")).end();
    assert!(turn.seen.of("turn.done").is_empty());
    assert_eq!(turn.kept_messages()[0]["content"], "Hel", "what came is kept");
}

#[test]
fn a_stream_without_events_has_begun_nothing() {
    let mut turn = Turn::new().end();
    assert!(turn.seen.events.is_empty());
    assert_eq!(turn.decoder.failure().map(|error| error.code), Some(ErrorCode::UnexpectedResponse));
    assert_eq!(turn.decoder.conversation(), None);
    let mut begun = Turn::new().feed(&[started()]).end();
    assert!(begun.decoder.failure().is_none());
}

#[test]
fn an_error_can_come_at_any_place() {
    let error = json!({"type": "RUN_ERROR", "message": "it broke", "code": "E1"});
    let ends = |frames: &[Json]| state(&Turn::new().feed(frames).end().seen);
    let expected = json!({"status": "error", "message": "it broke", "code": "E1"});
    assert_eq!(ends(std::slice::from_ref(&error)), expected, "first");
    let open = frame("TEXT_MESSAGE_START", "m", "");
    assert_eq!(ends(&[started(), open, error.clone()]), expected, "inside of a message");
    assert_eq!(ends(&[started(), finished(), error.clone()]), expected, "late");
    assert_eq!(ends(&[started(), error, started(), finished()])["status"], "done", "of an earlier run");
}

#[test]
fn several_runs_are_one_turn_whose_last_run_counts() {
    let turn = Turn::new()
        .feed(&[started()])
        .feed(&says("a", "One"))
        .feed(&calls("c", "mine", "{}", ""))
        .feed(&[finished(), started()])
        .feed(&says("b", "Two"))
        .feed(&[finished()])
        .end();
    assert_eq!(turn.shown(), ["a: One", "c: mine({})", "b: Two"]);
    assert_eq!(pending(&turn.seen), [""; 0], "only the last run can wait");
    assert_eq!(turn.seen.of("turn.created").len(), 1);
    assert_eq!(state(&turn.seen)["output"]["content"], "Two");
}

#[test]
fn a_repeated_run_brings_its_messages() {
    let mut first = started();
    first["input"] = json!({"messages": [{"id": "u0", "role": "user", "content": "Before"}]});
    let turn = Turn::new().feed(&[first]).feed(&says("a", "One")).feed(&[finished()]).end();
    assert_eq!(turn.kept_messages()[0], json!({"id": "u0", "role": "user", "content": "Before"}));
}

#[test]
fn outcomes_that_are_not_known_are_success() {
    for outcome in [json!(null), json!({"type": "newer"}), json!("odd"), json!({"type": "success"})] {
        let mut end = finished();
        end["outcome"] = outcome.clone();
        let turn = Turn::new().feed(&[started(), end]).end();
        assert_eq!(state(&turn.seen)["status"], "done", "{outcome}");
    }
    let mut end = json!({"type": "RUN_FINISHED"});
    end["outcome"] = json!({"type": "cancelled"});
    let turn = Turn::new().feed(&[started(), end]).end();
    assert_eq!(state(&turn.seen), json!({"status": "cancelled", "reason": "server"}));
}

#[test]
fn results_and_usage_are_handed_on() {
    let mut end = finished();
    end["result"] = json!({"ok": true});
    end["usage"] = json!([{"inputTokens": 3, "outputTokens": 2}, {"inputTokens": 4, "totalTokens": 9, "reasoningTokens": 1}]);
    let state = state(&Turn::new().feed(&[started(), end]).end().seen);
    assert_eq!(state["result"], json!({"ok": true}));
    let metrics = json!({"total_input_tokens": 7, "total_output_tokens": 2, "total_tokens": 9, "total_reasoning_tokens": 1});
    assert_eq!(state["metrics"], metrics);
}

#[test]
fn a_turn_has_the_ids_of_the_client() {
    let turn = Turn::new().feed(&[json!({"type": "RUN_STARTED", "threadId": "other", "runId": "other"})]);
    assert_eq!(turn.seen.of("turn.created")[0]["turn_id"], "t");
}

#[test]
fn nothing_follows_the_end_of_the_stream() {
    let turn = run(&[]).feed(&says("m", "Late"));
    assert_eq!(turn.shown(), [""; 0]);
}

/// Most servers close the stream at once. One that keeps it open does not keep the turn open.
#[test]
fn the_end_of_the_last_run_counts_after_a_grace() {
    let error = json!({"type": "RUN_ERROR", "message": "it broke"});
    let begun = [started(), frame("TEXT_MESSAGE_START", "m", "")];
    let rows: [(&str, Vec<Json>, bool); 7] = [
        ("nothing came", vec![], false),
        ("the run goes on", begun.to_vec(), false),
        ("it has finished", vec![started(), finished()], true),
        ("it has failed", vec![started(), error.clone()], true),
        ("it has failed late", vec![started(), finished(), error], true),
        ("another run has begun", vec![started(), finished(), started()], false),
        ("and has finished", vec![started(), finished(), started(), finished()], true),
    ];
    for (when, frames, has_ended) in rows {
        let turn = Turn::new().feed(&frames);
        assert_eq!(turn.decoder.grace() > 0, has_ended, "{when}");
        assert!(turn.seen.of("turn.done").is_empty(), "{when}: the end is held");
        assert_eq!(turn.end().decoder.grace(), 0, "{when}: the stream has ended");
    }
}
