//! The dialogs that were put together from the server's source: the checker finds nothing wrong with
//! them, and the gateway's own, of the same scripts, have the same form.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::check::{check, fixture};
use super::client::{Client, THREAD, TURN, fast, jsonl, outline, paced, turn};

const DIALOGS: [&str; 12] = [
    "agent-command",
    "cancel",
    "capabilities-rejected",
    "chat-plain",
    "chat-reasoning",
    "context-compression",
    "errors",
    "provider-error-exhausted",
    "provider-error-recovered",
    "reconnect",
    "task-timeline",
    "tool-timeout-and-retry",
];

fn dialog(name: &str) -> String {
    fixture(&format!("derived-{name}.jsonl"))
}

fn lines(dialog: &str) -> Vec<Value> {
    dialog.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn the_dialogs_are_as_they_should_be() {
    for name in DIALOGS {
        assert_eq!(check(&dialog(name)), [""; 0], "{name}");
    }
}

/// A dialog with a change to its line with this notification, the last such if there are several.
fn changed(name: &str, method: &str, change: impl Fn(&mut Value)) -> String {
    let mut lines = lines(&dialog(name));
    let line = lines.iter_mut().rev().find(|line| line["frame"]["method"] == method).expect("a line");
    change(&mut line["frame"]);
    jsonl(&lines)
}

#[test]
fn a_broken_dialog_is_found_out() {
    type Change = fn(&mut Value);
    let changes: [(&str, Change, &str); 7] = [
        ("turn/completed", |frame| frame["params"]["turn"]["status"] = json!("Failed"), "ends as"),
        ("turn/completed", |frame| frame["id"] = json!("rq0000000000000000001"), "has no id"),
        ("item/completed", |frame| frame["params"]["item"]["type"] = json!("poem"), "item/completed"),
        ("item/started", |frame| frame["jsonrpc"] = json!("1.0"), "jsonrpc must be"),
        ("turn/started", |frame| frame["params"]["turn_id"] = frame["params"]["turn"].take(), "turn/started"),
        ("item/agent_message/delta", |frame| frame["params"]["delta"] = json!(7), "delta"),
        ("turn/start", |frame| frame["id"] = json!("rq1"), "RequestId"),
    ];
    for (method, change, words) in changes {
        let findings = check(&changed("chat-plain", method, change));
        assert!(findings.iter().any(|finding| finding.contains(words)), "{method} {words}: {findings:?}");
    }
    let all = lines(&dialog("chat-plain"));
    let again = |method: &str| -> String {
        let line = all.iter().find(|line| line["frame"]["method"] == method).expect("a line");
        jsonl(&all.iter().chain([line]).cloned().collect::<Vec<_>>())
    };
    for (method, words) in [
        ("turn/completed", "ends a second time"),
        ("item/completed", "is completed twice"),
        ("item/started", "after the turn's end"),
    ] {
        let findings = check(&again(method));
        assert!(findings.iter().any(|finding| finding.contains(words)), "{method}: {findings:?}");
    }
}

/// What the server says of the turn, reduced to its form: methods, types, states, names of members;
/// ids by the order in which they appear. Deltas in a row count once.
fn form(lines: &[Value]) -> Vec<String> {
    let mut names: HashMap<String, usize> = HashMap::new();
    let mut form = Vec::new();
    for frame in lines.iter().filter(|line| line["dir"] == "S->C").map(|line| &line["frame"]) {
        let Some(method) = frame["method"].as_str() else {
            let outcome = if frame.get("error").is_some() { "error" } else { "result" };
            form.push(outcome.to_owned());
            continue;
        };
        // Its time varies.
        if method == "thread/updated" {
            continue;
        }
        let params = &frame["params"];
        let item = &params["item"];
        let id = params["item_id"].as_str().or(item["id"].as_str());
        let id = id.map(|id| {
            let next = names.len();
            *names.entry(id.to_owned()).or_insert(next)
        });
        let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let mut line = format!(
            "{method} #{} {} {} {} {}",
            id.map_or("-".to_owned(), |id| id.to_string()),
            word(&item["type"]),
            word(&item["status"]),
            word(&params["turn"]["status"]),
            word(&params["stream"]),
        );
        if method != "turn/completed" {
            let mut members: Vec<&str> =
                params.as_object().expect("an object").keys().map(String::as_str).collect();
            members.extend(item.as_object().into_iter().flatten().map(|(name, _)| name.as_str()));
            members.retain(|name| !["agentRole", "recovery_job_id"].contains(name));
            members.sort_unstable();
            line = format!("{line} {}", members.join(","));
        }
        form.push(line);
    }
    form.dedup();
    form
}

/// The part of a form that belongs to the turn.
fn of_turn(form: &[String]) -> Vec<String> {
    let begin = form.iter().position(|line| line.starts_with("context/") || line.starts_with("turn/started"));
    let end =
        form.iter().rposition(|line| line.starts_with("turn/completed") || line.starts_with("turn/failed"));
    form[begin.expect("a beginning")..=end.expect("an end")].to_vec()
}

async fn play(mode: &str, words: &str, params: Value, fault: &str) -> Client {
    let gateway = fast().await;
    let mut client = gateway.ready_with(mode, fault).await;
    client.send("turn/start", turn(TURN, words, params)).await;
    client.read_turn().await;
    client
}

#[tokio::test]
async fn the_gateways_dialogs_have_the_same_form() {
    let capabilities = json!({"capabilities": [
        {"id": "cap_docs", "label": "Documents",
         "kind": {"type": "skill", "slug": "workspace/documents", "sourceKind": "workspace"}},
        {"id": "cap_send", "label": "resend / Send Email", "kind": {"type": "mcpTool", "serverName": "resend",
         "rawToolName": "send_email", "scopeKind": "workspace"}},
    ]});
    for (name, mode, words, params) in [
        ("chat-plain", "Chat", "plain", json!({})),
        ("agent-command", "Agent", "shell", json!({})),
        ("capabilities-rejected", "Agent", "plain", capabilities),
        ("context-compression", "Chat", "compact", json!({})),
        ("provider-error-exhausted", "Chat", "exhaust", json!({})),
        ("provider-error-recovered", "Chat", "recover", json!({})),
    ] {
        let client = play(mode, words, params, "none").await;
        assert_eq!(of_turn(&form(&client.record)), of_turn(&form(&lines(&dialog(name)))), "{name}");
        client.check();
    }
}

/// A form without what a round of the model adds: its reasoning is not in all of the dialogs.
fn without_reasoning(form: Vec<String>) -> Vec<String> {
    let mut form: Vec<String> = form
        .into_iter()
        .filter(|line| !line.contains(" reasoning ") && !line.starts_with("turn/timeline/changed"))
        .filter(|line| line != "result")
        .map(|line| line.split(' ').filter(|word| !word.starts_with('#')).collect::<Vec<_>>().join(" "))
        .filter(|line| !line.starts_with("item/tool/progress"))
        .collect();
    form.dedup();
    form
}

#[tokio::test]
async fn with_other_rounds_of_the_model_they_still_have() {
    for (name, words) in [("task-timeline", "task"), ("tool-timeout-and-retry", "timeout")] {
        let client = play("Agent", words, json!({}), "none").await;
        let own = without_reasoning(of_turn(&form(&client.record)));
        assert_eq!(own, without_reasoning(of_turn(&form(&lines(&dialog(name))))), "{name}");
        client.check();
    }
}

#[tokio::test]
async fn late_thoughts_come_after_their_item_as_in_the_dialog() {
    let is_late = |record: &[Value]| {
        let frames: Vec<Value> = record.iter().map(|line| line["frame"].clone()).collect();
        let lines = outline(&frames);
        let end = lines.iter().position(|line| line == "item/completed reasoning");
        lines.iter().rposition(|line| line.ends_with("delta generic")) > end
    };
    assert!(is_late(&lines(&dialog("chat-reasoning"))));
    assert!(is_late(&play("Chat", "reasoning", json!({}), "late-delta").await.record));
}

#[tokio::test]
async fn a_cancel_has_the_same_form() {
    let gateway = paced(100).await;
    let mut client = gateway.ready("Chat").await;
    client.start_turn("slow").await;
    client.until(&["item/agent_message/delta"]).await;
    let params = json!({"thread_id": THREAD, "turn_id": TURN, "reason": "user clicked stop"});
    client.call("turn/cancel", params.clone()).await;
    client.call("turn/cancel", params).await;
    let (own, theirs) = (form(&client.record), form(&lines(&dialog("cancel"))));
    let from = |form: &[String]| form.iter().position(|line| line.starts_with("turn/started")).expect("one");
    assert_eq!(own[from(&own)..], theirs[from(&theirs)..]);
    client.check();
}

#[tokio::test]
async fn errors_have_the_same_words() {
    let gateway = fast().await;
    let mut client = gateway.ready("Chat").await;
    let lines = lines(&dialog("errors"));
    let mut compared = 0;
    for pair in lines.windows(2) {
        let (asked, answered) = (&pair[0]["frame"], &pair[1]["frame"]);
        if pair[0]["dir"] != "C->S" || answered.get("error").is_none() {
            continue;
        }
        let sent = asked["raw"].as_str().map_or_else(|| asked.to_string(), str::to_owned);
        client.send_text(&sent).await;
        assert_eq!(client.next().await, *answered, "{sent}");
        compared += 1;
    }
    assert_eq!(compared, 7);
}
