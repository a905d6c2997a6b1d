//! The types of the wire hold what dialogs have: each is read whole, and written as it came.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use super::super::wire::{
    RejectedCapability, ToolDeltaPayload, TurnItem, TurnRpcNotification, TurnRpcSessionOptions,
    TurnRpcTurnOptions,
};

/// Without members that are null, and lists that are empty: on the wire they may be missing.
fn bare(json: Json) -> Json {
    let is_there = |json: &Json| !json.is_null() && json.as_array().is_none_or(|items| !items.is_empty());
    match json {
        Json::Array(items) => items.into_iter().map(bare).collect(),
        Json::Object(members) => {
            let members = members.into_iter().map(|(name, value)| (name, bare(value)));
            members.filter(|(_, value)| is_there(value)).collect()
        }
        other => other,
    }
}

fn holds<T: Serialize + DeserializeOwned>(json: &Json) {
    let read: T = serde_json::from_value(json.clone()).unwrap_or_else(|error| panic!("{error}: {json}"));
    assert_eq!(bare(serde_json::to_value(read).expect("written")), bare(json.clone()));
}

/// Whatever the gateway says in the dialogs that were put together from the note.
fn frames() -> Vec<Json> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/turn-rpc");
    let mut frames = Vec::new();
    for file in std::fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file")) {
        let name = file.file_name().to_string_lossy().into_owned();
        if !name.starts_with("derived-") {
            continue;
        }
        for line in std::fs::read_to_string(file.path()).expect("a text").lines() {
            let line: Json = serde_json::from_str(line).unwrap_or_default();
            if line["dir"] == "S->C" {
                frames.push(line["frame"].clone());
            }
        }
    }
    assert!(frames.len() > 150, "{}", frames.len());
    frames
}

#[test]
fn every_notification_of_the_dialogs_is_held() {
    let mut count = 0;
    for mut frame in frames().into_iter().filter(|frame| frame.get("method").is_some()) {
        frame.as_object_mut().expect("an object").remove("jsonrpc");
        holds::<TurnRpcNotification>(&frame);
        count += 1;
    }
    assert!(count > 100, "{count}");
}

#[test]
fn every_item_that_is_kept_in_the_dialogs_is_held() {
    let mut count = 0;
    for frame in frames() {
        let events = frame["result"]["events"].as_array().cloned().unwrap_or_default();
        let woven = frame["result"]["items"].as_array().cloned().unwrap_or_default();
        let woven = woven.iter().map(|item| item["payload"]["event"].clone());
        for event in events.into_iter().chain(woven) {
            if let Some(item) = event["payload"].get("item") {
                holds::<TurnItem>(item);
                count += 1;
            }
        }
    }
    assert!(count > 10, "{count}");
}

#[test]
fn what_no_dialog_has_is_held_too() {
    let tool = |kind: &str, more: Json| {
        let mut item = json!({"type": kind, "id": "c", "toolName": "t", "arguments": {"a": [1]}, "status": "completed", "success": true,
            "outputPolicy": {"llm": {"mode": "summary_only"}}, "storage": {"kind": "none"},
            "display": {"kind": "summary", "title": "T", "lines": ["a"], "metadata": {"n": {"kind": "number", "value": "1"}}, "truncated": false},
            "outcome": {"status": "ok", "shouldRetry": false, "incomplete": false}});
        item.as_object_mut().expect("an object").extend(more.as_object().cloned().expect("an object"));
        item
    };
    let link = json!({"text": "T", "url": "https://example.com"});
    let found =
        json!({"rank": 1, "title": "T", "url": "https://example.com", "snippet": "s", "source": "web"});
    for item in [
        tool("fileChange", json!({"changedFiles": ["a.rs"], "exitCode": 0, "stdout": "ok", "stderr": "no"})),
        tool(
            "webSearch",
            json!({"query": "q", "provider": "p", "tookMs": 3, "resultCount": 1, "results": [found]}),
        ),
        tool(
            "webFetch",
            json!({"url": "u", "finalUrl": "v", "statusCode": 200, "contentType": "text/html", "extractMode": "text", "resolvedMode": "text",
                "bytesReceived": 9, "elapsedMs": 2, "truncated": {"by": 1}, "title": "T", "wordCount": 3, "links": [link]}),
        ),
        tool(
            "download",
            json!({"url": "u", "finalUrl": "v", "statusCode": 200, "path": "/p", "bytesWritten": 9, "sha256": "00", "contentType": "c",
                "elapsedMs": 2, "truncated": true}),
        ),
        tool("dynamicToolCall", json!({"display": {"kind": "hidden"}})),
        json!({"type": "userMessage", "id": "u", "text": "Hi", "attachments": [
            {"type": "image", "url": "https://example.com/a.png"}, {"type": "localVideo", "path": "/v"},
            {"type": "artifact", "artifact": {"artifact_id": "a", "display_name": "A", "kind": "image", "status": "ready"}},
            {"type": "mcpTool", "capability": {"id": "c", "label": "L", "serverName": "s", "rawToolName": "t", "scopeKind": "user"}},
        ]}),
    ] {
        holds::<TurnItem>(&item);
    }
    for payload in [
        json!({"kind": "output_chunk", "truncated": false}),
        json!({"kind": "progress", "stage": "running", "metadata": {}}),
        json!({"kind": "artifact_ref", "label": "l", "uri": "u", "metadata": {}}),
        json!({"kind": "diagnostic", "message": "m", "errorClass": "timeout", "metadata": {}}),
    ] {
        holds::<ToolDeltaPayload>(&payload);
    }
    let tool = json!({"type": "mcpTool", "serverName": "s", "rawToolName": "t", "scopeKind": "user"});
    holds::<RejectedCapability>(&json!({"id": "c", "kind": tool, "reason": "not_found", "message": "none"}));
    holds::<TurnRpcTurnOptions>(&json!({"model": "m", "modelProvider": "p", "mode": "Agent",
        "sandboxPolicy": {"mode": "FullAccess"}, "capabilities": [{"id": "c", "kind": tool, "label": "L"}]}));
    holds::<TurnRpcSessionOptions>(
        &json!({"workspaceId": "w", "model": "m", "modelProvider": "p", "mode": "Chat",
        "sandbox": "FullAccess", "originKind": "user", "sidebarVisibility": "hidden", "agentNickname": "n", "agentRole": "r"}),
    );
}
