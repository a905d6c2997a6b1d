//! Each trap of the real servers, on request.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{fast, kind, of, outline, said, termination, text, waiting};

const PLAIN: &str = "Here is a plain answer";
const ONE_TOOL: &str = "Why was I charged?";

#[tokio::test]
async fn leaked_envelopes_leave_the_payload_alone() {
    let gateway = fast().await;
    let clean = gateway.say("t1", "plain").await;
    let leaky = gateway.say_with("t2", "plain", "leak").await;
    assert_eq!(said(&clean), said(&leaky));
    assert_eq!(outline(&clean), outline(&leaky));
    for frame in [&leaky[0], leaky.last().expect("a frame")] {
        assert_eq!(frame["thread_id"], "t2", "both ends are right");
        assert_eq!(frame["run_id"], leaky[0]["run_id"]);
    }
    let inner = &leaky[1..leaky.len() - 1];
    let threads: BTreeSet<String> = inner.iter().map(|frame| frame["thread_id"].to_string()).collect();
    assert!(threads.len() > 2 && threads.contains("null"), "of others, or missing: {threads:?}");
    let right =
        inner.iter().filter(|frame| frame["thread_id"] == "t2" && frame["run_id"] == leaky[0]["run_id"]);
    assert!(right.count() < inner.len());
    let wrong_number = leaky.iter().enumerate().filter(|(number, frame)| frame["seq"] != *number);
    assert!(wrong_number.count() > 10);
}

#[tokio::test]
async fn an_error_may_be_the_last_word() {
    let gateway = fast().await;
    let frames = gateway.say_with("t", "plain", "error-eof:5").await;
    assert_eq!(frames.len(), 6);
    let last = &frames[5];
    assert_eq!((kind(last), &last["data"]["code"]), ("error", &json!("STATE_ERROR")));
    let run = text(&frames[0]["run_id"]);
    assert_eq!(gateway.get(&format!("/tirea/v1/runs/{run}")).await.json()["status"], "running");
    let cancel = gateway.post(&format!("/tirea/v1/runs/{run}/cancel"), json!({})).await;
    assert_eq!(cancel.status, 400);
    let thread = gateway.get("/tirea/v1/threads/t").await.json();
    assert_eq!(thread["messages"].as_array().map(Vec::len), Some(1));
    assert_eq!(termination(&gateway.say("t", "plain").await)["type"], "natural_end");
}

#[tokio::test]
async fn an_error_at_the_last_moment_stores_nothing() {
    let gateway = fast().await;
    let all = gateway.say("t1", "plain").await.len();
    let frames = gateway.say_with("t2", "plain", &format!("error-eof:{}", all - 2)).await;
    assert_eq!(outline(&frames)[3..], ["inference_complete", "error"]);
    let record = gateway.get(&format!("/tirea/v1/runs/{}", text(&frames[0]["run_id"]))).await.json();
    assert_eq!(record["status"], "running");
    let thread = gateway.get("/tirea/v1/threads/t2").await.json();
    assert_eq!(thread["messages"].as_array().map(Vec::len), Some(1), "{thread}");
}

#[tokio::test]
async fn a_relay_error_has_its_message_at_the_top() {
    let gateway = fast().await;
    let frames = gateway.say_with("t", "plain", "relay-error:3").await;
    assert_eq!(frames.len(), 4);
    let last = frames[3].as_object().expect("an object");
    assert_eq!(last.keys().collect::<Vec<_>>(), ["code", "message", "type"]);
    assert_eq!(last["code"], "RELAY_ERROR");
}

#[tokio::test]
async fn a_step_is_tried_again_and_goes_on() {
    let gateway = fast().await;
    let whole = said(&gateway.say("t1", "plain").await);
    for (thread, fault, extra) in [("t2", "retry-step:4", false), ("t3", "retry-step:4:call", true)] {
        let frames = gateway.say_with(thread, "plain", fault).await;
        let mut expected = vec!["run_start", "step_start", "text_delta"];
        expected.extend(extra.then_some(["tool_call_start", "tool_call_delta"]).into_iter().flatten());
        expected.extend([
            "step_end",
            "step_start",
            "text_delta",
            "inference_complete",
            "step_end",
            "run_finish",
        ]);
        assert_eq!(outline(&frames), expected, "{fault}");
        assert_eq!(said(&frames), whole);
        assert_eq!(frames.last().expect("a frame")["data"]["result"]["response"], json!(whole));
        let steps = of(&frames, "step_start");
        let first: Vec<&str> = frames.iter().map(kind).take_while(|kind| *kind != "step_end").collect();
        assert_eq!(first.iter().filter(|kind| **kind == "text_delta").count(), 4);
        let thread = gateway.get(&format!("/tirea/v1/threads/{thread}")).await.json();
        assert_eq!(thread["messages"][1]["id"], steps[1]["data"]["message_id"]);
        assert_eq!(thread["messages"].as_array().map(Vec::len), Some(2));
    }
}

#[tokio::test]
async fn a_provider_that_keeps_failing_ends_the_run() {
    let gateway = fast().await;
    let frames = gateway.say_with("t", "plain", "retries").await;
    let kinds: Vec<&str> = frames.iter().map(kind).collect();
    let expected = [
        "run_start",
        "step_start",
        "step_end",
        "step_start",
        "step_end",
        "step_start",
        "error",
        "run_finish",
    ];
    assert_eq!(kinds, expected);
    assert_eq!(frames[5]["step_id"], "step:2");
}

#[tokio::test]
async fn a_silent_provider_says_nothing_at_all() {
    let gateway = fast().await;
    let began = Instant::now();
    let frames = gateway.say_with("t", "plain", "silence:300").await;
    assert!(began.elapsed() >= Duration::from_millis(300));
    assert_eq!(termination(&frames)["type"], "natural_end");
}

#[tokio::test]
async fn a_stale_snapshot_shows_the_call_that_was_answered() {
    let gateway = fast().await;
    let call = waiting(&gateway.say("t", "approval").await)[0]["call_id"].clone();
    let decision = json!({"target_id": call, "action": "resume"});
    let frames = gateway.decide_with("t", json!([decision]), "stale-snapshot").await;
    let snapshots = of(&frames, "state_snapshot");
    let waits = |snapshot: &Value| {
        let scope = &snapshot["data"]["snapshot"]["__tool_call_scope"][call.as_str().expect("an id")];
        scope.get("suspended_call").is_some()
    };
    assert_eq!(snapshots.iter().map(|snapshot| waits(snapshot)).collect::<Vec<_>>(), [false, true]);
    assert_eq!(termination(&frames)["type"], "natural_end");
}

#[tokio::test]
async fn things_of_a_later_version() {
    let gateway = fast().await;
    let frames = gateway.say_with("t", "plain", "unknown-type+unknown-termination").await;
    assert_eq!(of(&frames, "telemetry_sample").len(), 1);
    assert_eq!(*termination(&frames), json!({"type": "quota_exhausted", "value": {"limit": 3}}));
    assert!(said(&frames).starts_with(PLAIN));
    let frames = gateway.ask_with("t", "plain", "unknown-type").await;
    assert_eq!(of(&frames, "telemetry_sample").len(), 1);
}

#[tokio::test]
async fn progress_of_an_earlier_version() {
    let gateway = fast().await;
    let frames = gateway.say_with("t", ONE_TOOL, "legacy-progress").await;
    let reports = of(&frames, "activity_snapshot");
    assert_eq!(reports.len(), 5);
    for report in reports {
        assert_eq!(report["data"]["activity_type"], "progress");
        let keys: Vec<&String> = report["data"]["content"].as_object().expect("content").keys().collect();
        assert_eq!(keys, ["message", "progress", "total"]);
    }
}

#[tokio::test]
async fn events_that_the_stock_runtime_never_sends() {
    let gateway = fast().await;
    gateway.say("t", "plain").await;
    let frames = gateway.say_with("t", ONE_TOOL, "state-delta+messages-snapshot+activity-delta").await;
    let deltas = of(&frames, "state_delta");
    assert_eq!(deltas[0]["data"]["delta"], json!([{"op": "add", "path": "/visits", "value": 1}]));
    assert_eq!(deltas[1]["data"]["delta"], json!([{"op": "replace", "path": "/visits", "value": 2}]));
    assert_eq!(of(&frames, "state_snapshot")[0]["data"]["snapshot"]["visits"], 2, "snapshots agree");
    let messages = &of(&frames, "messages_snapshot")[0]["data"]["messages"];
    assert_eq!(messages.as_array().map(Vec::len), Some(3));
    let delta = &of(&frames, "activity_delta")[0]["data"];
    let before = of(&frames, "activity_snapshot")[0];
    assert_eq!(delta["message_id"], before["data"]["message_id"]);
    assert_eq!(delta["patch"], json!([{"op": "replace", "path": "/found", "value": 3}]));
    let frames = gateway.ask_with("t", "plain", "state-delta").await;
    let path = &of(&frames, "state_delta")[0]["delta"][0]["path"];
    assert_eq!(*path, "/extensions/visits");
    assert_eq!(of(&frames, "state_snapshot")[0]["snapshot"]["extensions"]["visits"], 2);
}

#[tokio::test]
async fn awaken_starts_over_and_takes_calls_back() {
    let gateway = fast().await;
    let frames = gateway.ask_with("t", "plain", "stream-reset:6+tool-cancel").await;
    let reset = frames.iter().position(|frame| kind(frame) == "stream_reset").expect("a reset");
    assert_eq!(of(&frames[..reset], "text_delta").len(), 6);
    let again = said(&frames[reset..]);
    assert_eq!(json!(again), frames.last().expect("a frame")["result"]["response"]);
    assert!(again.starts_with(PLAIN));
    let cancelled = of(&frames, "tool_call_cancel")[0];
    assert_eq!(cancelled["id"], of(&frames, "tool_call_start")[0]["id"]);
    assert!(of(&frames, "tool_call_ready").is_empty());
    let tirea = gateway.say_with("t", "plain", "stream-reset:6+tool-cancel").await;
    assert_eq!(outline(&tirea)[..3], ["run_start", "step_start", "text_delta"], "tirea has no such events");
}
