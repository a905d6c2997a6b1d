//! A finished run in the form that CopilotKit's runtime keeps: each text and each call's arguments in one piece, and
//! the state as one snapshot at the end.

use std::collections::HashMap;

use serde_json::{Value, json};

/// The events of a recorded run, compacted.
pub(super) fn compacted(recorded: &[u8]) -> Vec<Value> {
    let text = String::from_utf8_lossy(recorded);
    let events = text.split_terminator("\n\n").filter_map(|frame| frame.strip_prefix("data: "));
    let mut kept: Vec<Value> = Vec::new();
    // The position of each text's or call's single piece.
    let mut pieces: HashMap<String, usize> = HashMap::new();
    let mut state = None;
    for event in events.filter_map(|event| serde_json::from_str::<Value>(event).ok()) {
        let kind = event["type"].as_str().unwrap_or_default();
        let id = match kind {
            "TEXT_MESSAGE_CONTENT" | "REASONING_MESSAGE_CONTENT" => Some(&event["messageId"]),
            "TOOL_CALL_ARGS" => Some(&event["toolCallId"]),
            _ => None,
        };
        if let Some(id) = id {
            let id = format!("{kind} {id}");
            if let Some(&at) = pieces.get(&id) {
                let more = event["delta"].as_str().unwrap_or_default();
                if let Value::String(delta) = &mut kept[at]["delta"] {
                    delta.push_str(more);
                }
                continue;
            }
            pieces.insert(id, kept.len());
        }
        match kind {
            "STATE_SNAPSHOT" => state = Some(event["snapshot"].clone()),
            "STATE_DELTA" => {
                let mut patched = state.take().or_else(|| began_with(&kept)).unwrap_or_else(|| json!({}));
                if let Ok(patch) = serde_json::from_value::<json_patch::Patch>(event["delta"].clone()) {
                    // A patch that fails changes nothing.
                    let _ = json_patch::patch(&mut patched, &patch);
                }
                state = Some(patched);
            }
            "RUN_FINISHED" | "RUN_ERROR" => {
                kept.extend(state.take().map(|state| json!({"type": "STATE_SNAPSHOT", "snapshot": state})));
                kept.push(event);
            }
            _ => kept.push(event),
        }
    }
    kept
}

/// The state that came with the request.
fn began_with(kept: &[Value]) -> Option<Value> {
    kept.first()?.pointer("/input/state").cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_joined_and_the_state_is_told_once() {
        let recorded = [
            json!({"type": "RUN_STARTED", "input": {"state": {"n": 0}}}),
            json!({"type": "STATE_DELTA", "delta": [{"op": "replace", "path": "/n", "value": 1}]}),
            json!({"type": "STATE_DELTA", "delta": [{"op": "remove", "path": "/m"}]}),
            json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": "a", "delta": "1"}),
            json!({"type": "TOOL_CALL_ARGS", "toolCallId": "a", "delta": "{"}),
            json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": "a", "delta": "2"}),
            json!({"type": "TOOL_CALL_ARGS", "toolCallId": "a", "delta": "}"}),
            json!({"type": "RUN_FINISHED"}),
        ];
        let recorded = recorded.map(|event| format!("data: {event}\n\n")).concat();
        assert_eq!(
            compacted(recorded.as_bytes())[1..],
            [
                json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": "a", "delta": "12"}),
                json!({"type": "TOOL_CALL_ARGS", "toolCallId": "a", "delta": "{}"}),
                json!({"type": "STATE_SNAPSHOT", "snapshot": {"n": 1}}),
                json!({"type": "RUN_FINISHED"}),
            ]
        );
    }
}
