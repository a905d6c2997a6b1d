//! Runs in the shape of those that were recorded from the real servers: the same types in the same
//! order, with the same keys. Deltas and progress, whose number is a matter of chance, are left out.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Gateway, fast, frames, kind, paced, read_until, text, waiting, words};

/// What depends on the tool, and is taken as it is.
const OPAQUE: [&str; 5] =
    ["arguments", "tool_args", "parameters", "response_schema", "recent_response_texts"];
/// Whose keys are ids.
const BY_ID: [&str; 2] = ["__tool_call_scope", "calls"];
const LEFT_OUT: [&str; 4] = ["text_delta", "tool_call_delta", "activity_snapshot", "reasoning_delta"];

/// Each frame as its type and all paths in it.
fn shape(frames: &[Value]) -> Vec<String> {
    let counted = frames.iter().filter(|frame| !LEFT_OUT.contains(&kind(frame)));
    let line = |frame: &Value| {
        let mut found = BTreeSet::new();
        paths(frame, "", None, &mut found);
        format!("{}: {}", kind(frame), found.into_iter().collect::<Vec<_>>().join(" "))
    };
    counted.map(line).collect()
}

fn paths(value: &Value, prefix: &str, parent: Option<&str>, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            if map.is_empty() && !prefix.is_empty() {
                found.insert(format!("{prefix}{{}}"));
            }
            for (key, value) in map {
                let by_id = parent.is_some_and(|parent| BY_ID.contains(&parent));
                let name = if by_id { "*" } else { key.as_str() };
                let path = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") };
                if is_opaque(key, value, parent) {
                    found.insert(path);
                } else {
                    paths(value, &path, Some(name), found);
                }
            }
        }
        Value::Array(items) if items.is_empty() => {
            found.insert(format!("{prefix}[]"));
        }
        Value::Array(items) => {
            for item in items {
                paths(item, &format!("{prefix}[]"), Some("[]"), found);
            }
        }
        _ => {
            found.insert(prefix.to_owned());
        }
    }
}

fn is_opaque(key: &str, value: &Value, parent: Option<&str>) -> bool {
    match (key, parent) {
        ("data", Some("result")) | ("result", Some("resume")) => true,
        ("result", None | Some("data")) => {
            let known = value.get("tool_name").is_some() || value.get("response").is_some();
            !known
        }
        (key, _) => OPAQUE.contains(&key),
    }
}

fn assert_shape(frames: &[Value], recorded: &str) {
    let recorded: Vec<&str> = recorded.lines().collect();
    let played = shape(frames);
    for (number, (played, recorded)) in played.iter().zip(&recorded).enumerate() {
        assert_eq!(played, recorded, "frame {number} without deltas");
    }
    assert_eq!(played.len(), recorded.len(), "{played:#?}");
}

/// Words that make the support desk call one tool and answer.
const ONE_TOOL: &str = "Why was I charged?";

#[tokio::test]
async fn text_and_a_tool_of_tirea() {
    let gateway = fast().await;
    assert_shape(&gateway.say("t1", "plain").await, include_str!("shapes/tirea_text.txt"));
    assert_shape(&gateway.say("t2", ONE_TOOL).await, include_str!("shapes/tirea_tool.txt"));
}

#[tokio::test]
async fn a_suspended_run_of_tirea_and_its_answers() {
    let gateway = fast().await;
    for thread in ["allowed", "denied"] {
        let asked = gateway.say(thread, "approval").await;
        assert_shape(&asked, include_str!("shapes/tirea_suspended.txt"));
        let pending = waiting(&asked)[0]["pending"]["id"].clone();
        let (run, decision, recorded) = if thread == "allowed" {
            let decision = json!({"target_id": pending, "decision_id": "d1", "action": "resume",
                "result": {"approved": true}, "updated_at": 1});
            (json!("r1"), decision, include_str!("shapes/tirea_resume_approve.txt"))
        } else {
            let decision = json!({"target_id": pending, "action": "cancel",
                "result": {"approved": false}, "reason": "not allowed by user"});
            (Value::Null, decision, include_str!("shapes/tirea_resume_deny.txt"))
        };
        let body = json!({"agentId": "a", "threadId": thread, "parentRunId": run, "decisions": [decision]});
        assert_shape(&gateway.post("/tirea/v1/runs", body).await.frames(), recorded);
    }
}

#[tokio::test]
async fn a_question_of_tirea_and_its_answer() {
    let gateway = fast().await;
    let asked = gateway.say("t", "question").await;
    assert_shape(&asked, include_str!("shapes/tirea_question.txt"));
    let call = waiting(&asked)[0]["call_id"].clone();
    let decision = json!({"target_id": call, "action": "resume", "result": {"message": "Virginia"}});
    let answered = gateway.decide("t", json!([decision])).await;
    assert_shape(&answered, include_str!("shapes/tirea_question_resume.txt"));
}

#[tokio::test]
async fn cancelled_and_failing_runs_of_tirea() {
    let gateway = paced(25).await;
    let stream = cancelled(&gateway, "/tirea").await;
    assert_shape(&frames(&stream), include_str!("shapes/tirea_cancelled.txt"));
    let failed = gateway.say_with("t", "plain", "retries").await;
    assert_shape(&failed, include_str!("shapes/tirea_retries.txt"));
}

#[tokio::test]
async fn runs_of_awaken() {
    let gateway = fast().await;
    assert_shape(&gateway.ask("t1", "plain").await, include_str!("shapes/awaken_text.txt"));
    assert_shape(&gateway.ask("t2", ONE_TOOL).await, include_str!("shapes/awaken_tool.txt"));
    assert_shape(&gateway.ask("t3", "question").await, include_str!("shapes/awaken_question.txt"));
    assert_shape(&gateway.ask("t4", "error").await, include_str!("shapes/awaken_error.txt"));
    let gateway = paced(25).await;
    let stream = cancelled(&gateway, "/awaken").await;
    assert_shape(&frames(&stream), include_str!("shapes/awaken_cancelled.txt"));
}

/// The stream of a run that is cancelled after its first words.
async fn cancelled(gateway: &Gateway, base: &str) -> String {
    let mut response = gateway.open(&format!("{base}/v1/runs"), words("cancelled", "plain")).await;
    let begun = read_until(&mut response, "text_delta").await;
    let first = frames(begun.split_inclusive("\n\n").next().expect("a frame"));
    let run = text(&first[0]["run_id"]);
    let answer = gateway.post(&format!("{base}/v1/runs/{run}/cancel"), json!({})).await;
    assert_eq!(answer.status, 202);
    assert_eq!(answer.json(), json!({"run_id": run, "status": "cancel_requested"}));
    let rest = tokio::time::timeout(Duration::from_secs(2), response.text()).await;
    begun + &rest.expect("the end comes at once").expect("the rest")
}

/// The fields of a report in the order in which they come.
const FIELDS: [&str; 16] = [
    "call_id",
    "loaded",
    "message",
    "node_id",
    "parent_call_id",
    "parent_node_id",
    "parent_run_id",
    "progress",
    "run_id",
    "schema",
    "status",
    "thread_id",
    "tool_name",
    "total",
    "type",
    "updated_at_ms",
];

#[tokio::test]
async fn progress_of_tirea_comes_field_by_field() {
    let gateway = fast().await;
    let frames = gateway.say("t", ONE_TOOL).await;
    let reports: Vec<&Value> = frames
        .iter()
        .filter(|frame| kind(frame) == "activity_snapshot")
        .map(|frame| &frame["data"])
        .collect();
    assert!(reports.len() >= 48 && reports.len().is_multiple_of(16), "{}", reports.len());
    for (number, report) in reports.iter().enumerate() {
        let content = report["content"].as_object().expect("content");
        let present = if number < 16 { number + 1 } else { 16 };
        let keys: Vec<&str> = content.keys().map(String::as_str).collect();
        assert_eq!(keys, &FIELDS[..present]);
        assert_eq!(report["activity_type"], "tool-call-progress");
        assert_eq!(report["replace"], true);
        assert_eq!(text(&report["message_id"]), format!("tool_call:{}", text(&content["call_id"])));
        assert_eq!(report.as_object().map(serde_json::Map::len), Some(4));
    }
    let statuses: Vec<&Value> =
        reports.iter().skip(15).step_by(16).map(|report| &report["content"]["status"]).collect();
    assert_eq!(statuses[0], "pending");
    assert_eq!(statuses[1], "running");
    assert_eq!(*statuses.last().expect("a report"), "done");
}

#[tokio::test]
async fn progress_of_awaken_comes_at_once() {
    let gateway = fast().await;
    let frames = gateway.ask("t", ONE_TOOL).await;
    let reports: Vec<&Value> = frames.iter().filter(|frame| kind(frame) == "activity_snapshot").collect();
    assert_eq!(reports.len(), 5);
    for report in &reports {
        let keys: Vec<&String> = report["content"].as_object().expect("content").keys().collect();
        let expected = [
            "call_id",
            "message",
            "node_id",
            "parent_node_id",
            "progress",
            "run_id",
            "schema",
            "status",
            "thread_id",
            "tool_name",
        ];
        assert_eq!(keys, expected);
        assert_eq!(report["message_id"], report["content"]["call_id"]);
    }
}
