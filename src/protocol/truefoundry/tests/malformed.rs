//! Events that are not what their type says: each field with each wrong type (sections 1.6 and 3.2).
//! A wrong field makes the event unknown, whole; nothing is guessed.

use serde_json::{Value as Json, json};

use super::{complete_events, event_of, type_of};

/// What section 3.2 says a field is.
#[derive(Clone, Copy, PartialEq)]
enum Is {
    Text,
    Count,
    Object,
    List,
    /// Text or a list.
    Content,
}

impl Is {
    fn fits(self, json: &Json) -> bool {
        match self {
            Self::Text => json.is_string(),
            Self::Count => json.as_u64().is_some(),
            Self::Object => json.is_object(),
            Self::List => json.is_array(),
            Self::Content => json.is_string() || json.is_array(),
        }
    }
}

/// Fields by type of event. The first event of that type in `complete_events` that has the field is used.
const FIELDS: &[(&str, &[(&str, Is)])] = &[
    (
        "turn.created",
        &[
            ("/id", Is::Text),
            ("/created_at", Is::Text),
            ("/turn_id", Is::Text),
            ("/previous_turn_id", Is::Text),
            ("/input", Is::List),
            ("/input/0", Is::Object),
            ("/input/0/type", Is::Text),
        ],
    ),
    ("turn.done", &[("/id", Is::Text), ("/created_at", Is::Text), ("/state", Is::Object)]),
    (
        "model.message",
        &[
            ("/id", Is::Text),
            ("/thread_id", Is::Text),
            ("/created_at", Is::Text),
            ("/content", Is::Content),
            ("/name", Is::Text),
            ("/refusal", Is::Text),
            ("/reasoning_content", Is::Text),
            ("/tool_calls", Is::List),
            ("/tool_calls/0", Is::Object),
            ("/tool_calls/0/id", Is::Text),
            ("/tool_calls/0/type", Is::Text),
            ("/tool_calls/0/function", Is::Object),
            ("/tool_calls/0/function/name", Is::Text),
            ("/tool_calls/0/function/arguments", Is::Text),
            ("/tool_calls/0/tool_info", Is::Object),
            ("/tool_calls/0/tool_info/type", Is::Text),
            ("/tool_calls/0/tool_info/server_id", Is::Text),
            ("/tool_calls/0/tool_info/server_name", Is::Text),
            ("/tool_calls/0/tool_info/name", Is::Text),
            ("/tool_calls/0/provider_specific_fields", Is::Object),
            ("/finish_reason", Is::Text),
            ("/usage", Is::Object),
            ("/usage/input_tokens", Is::Count),
            ("/usage/output_tokens", Is::Count),
            ("/usage/cache_read_tokens", Is::Count),
            ("/usage/cache_write_tokens", Is::Count),
            ("/usage/input_tokens_breakdown", Is::Object),
            ("/usage/input_tokens_breakdown/harness", Is::Count),
        ],
    ),
    (
        "model.message.delta",
        &[
            ("/id", Is::Text),
            ("/thread_id", Is::Text),
            ("/created_at", Is::Text),
            ("/content", Is::Text),
            ("/refusal", Is::Text),
            ("/reasoning_content", Is::Text),
            ("/tool_calls", Is::List),
            ("/tool_calls/0", Is::Object),
            ("/tool_calls/0/index", Is::Count),
            ("/tool_calls/0/id", Is::Text),
            ("/tool_calls/0/type", Is::Text),
            ("/tool_calls/0/function", Is::Object),
            ("/tool_calls/0/function/name", Is::Text),
            ("/tool_calls/0/function/arguments", Is::Text),
            ("/tool_calls/0/tool_info", Is::Object),
            ("/tool_calls/0/tool_info/name", Is::Text),
            ("/tool_calls/0/provider_specific_fields", Is::Object),
            ("/finish_reason", Is::Text),
            ("/usage", Is::Object),
            ("/usage/input_tokens", Is::Count),
        ],
    ),
    (
        "tool.response",
        &[
            ("/id", Is::Text),
            ("/thread_id", Is::Text),
            ("/created_at", Is::Text),
            ("/tool_call_id", Is::Text),
            ("/content", Is::Text),
        ],
    ),
    (
        "thread.created",
        &[
            ("/id", Is::Text),
            ("/thread_id", Is::Text),
            ("/created_at", Is::Text),
            ("/title", Is::Text),
            ("/parent", Is::Object),
            ("/parent/thread_id", Is::Text),
            ("/parent/tool_call_id", Is::Text),
            ("/agent_info", Is::Object),
            ("/agent_info/type", Is::Text),
            ("/agent_info/name", Is::Text),
            ("/agent_info/input", Is::Text),
            ("/agent_info/model", Is::Text),
        ],
    ),
    (
        "thread.done",
        &[
            ("/id", Is::Text),
            ("/thread_id", Is::Text),
            ("/created_at", Is::Text),
            ("/title", Is::Text),
            ("/parent", Is::Object),
            ("/parent/thread_id", Is::Text),
            ("/parent/tool_call_id", Is::Text),
            ("/state", Is::Object),
            ("/state/status", Is::Text),
            ("/state/output", Is::Object),
            ("/state/error", Is::Text),
        ],
    ),
    (
        "mcp.initialize",
        &[
            ("/id", Is::Text),
            ("/thread_id", Is::Text),
            ("/created_at", Is::Text),
            ("/mcp_servers", Is::List),
            ("/mcp_servers/0", Is::Object),
            ("/mcp_servers/0/id", Is::Text),
            ("/mcp_servers/0/name", Is::Text),
            ("/mcp_servers/0/session_id", Is::Text),
            ("/mcp_servers/0/transport_type", Is::Text),
        ],
    ),
    (
        "mcp.auth_required",
        &[
            ("/id", Is::Text),
            ("/created_at", Is::Text),
            ("/mcp_servers", Is::List),
            ("/mcp_servers/0", Is::Object),
            ("/mcp_servers/0/id", Is::Text),
            ("/mcp_servers/0/name", Is::Text),
            ("/mcp_servers/0/auth_url", Is::Text),
        ],
    ),
    ("sandbox.created", &[("/id", Is::Text), ("/created_at", Is::Text), ("/sandbox_id", Is::Text)]),
    (
        "tool.approval_required",
        &[
            ("/id", Is::Text),
            ("/thread_id", Is::Text),
            ("/created_at", Is::Text),
            ("/tool_calls", Is::List),
            ("/tool_calls/0", Is::Object),
            ("/tool_calls/0/id", Is::Text),
            ("/tool_calls/0/source_event_id", Is::Text),
        ],
    ),
    (
        "tool.response_required",
        &[
            ("/id", Is::Text),
            ("/thread_id", Is::Text),
            ("/created_at", Is::Text),
            ("/tool_calls", Is::List),
            ("/tool_calls/0", Is::Object),
            ("/tool_calls/0/id", Is::Text),
            ("/tool_calls/0/source_event_id", Is::Text),
        ],
    ),
];

fn with(kind: &str, pointer: &str, value: Json) -> Json {
    let mut events = complete_events().into_iter().filter(|event| type_of(event) == kind);
    let mut event =
        events.find(|event| event.pointer(pointer).is_some()).expect("an event that has the field");
    *event.pointer_mut(pointer).expect("the field") = value;
    event
}

fn expect_unknown(wire: &Json, pointer: &str) -> Result<(), String> {
    let event = event_of(&wire.to_string());
    if event["type"] != "unknown" {
        return Err(format!("{pointer} in {wire}"));
    }
    assert_eq!(event["wire_type"], wire["type"]);
    assert_eq!(event["raw"]["type"], wire["type"], "the event itself is kept");
    assert_eq!(event["raw"].pointer(pointer), wire.pointer(pointer), "what is wrong with it is kept");
    let problem = event["problem"].as_str().expect("a problem");
    let name = pointer.rsplit('/').find(|name| name.parse::<u32>().is_err()).expect("a name");
    let is_named = problem.contains(&format!("`{name}`")) || problem.contains("`state`");
    assert!(is_named, "{problem} does not name {pointer}");
    Ok(())
}

#[test]
fn section_3_2_a_field_of_the_wrong_type_makes_the_event_unknown() {
    let values =
        [json!(5), json!(-1), json!(0.5), json!("text"), json!(true), json!([]), json!([5]), json!({})];
    let (mut tried, mut passed) = (0, Vec::new());
    for (kind, fields) in FIELDS {
        for (pointer, is) in *fields {
            for value in values.iter().filter(|value| !is.fits(value)) {
                tried += 1;
                passed.extend(expect_unknown(&with(kind, pointer, value.clone()), pointer).err());
            }
        }
    }
    assert!(tried > 600, "only {tried} tries");
    assert!(passed.is_empty(), "not refused:\n{}", passed.join("\n"));
}

#[test]
fn a_turn_that_has_ended_is_seen_to_have_ended_whatever_else_is_in_its_state() {
    for pointer in
        ["/state/output", "/state/output/content", "/state/required_actions", "/state/completed_at"]
    {
        for value in [json!(5), json!("text"), json!([null, 5]), json!({})] {
            let event = event_of(&with("turn.done", pointer, value.clone()).to_string());
            assert_eq!(event["type"], "turn.done", "{pointer} = {value}");
            assert_eq!(event["state"]["status"], "done");
            assert!(event["state"]["required_actions"].is_array(), "{pointer} = {value}");
            let output = &event["state"]["output"];
            assert!(output.is_null() || output.is_object(), "{pointer} = {value}");
        }
    }
}

#[test]
fn section_3_2_a_required_field_that_is_missing_or_null_makes_the_event_unknown() {
    let cases = [
        ("turn.created", "turn_id"),
        ("turn.done", "state"),
        ("model.message", "id"),
        ("model.message.delta", "id"),
        ("tool.response", "tool_call_id"),
        ("tool.response", "content"),
        ("thread.created", "thread_id"),
        ("thread.done", "thread_id"),
        ("thread.done", "state"),
        ("sandbox.created", "sandbox_id"),
    ];
    for (kind, name) in cases {
        let null = with(kind, &format!("/{name}"), Json::Null);
        let mut missing = null.clone();
        missing.as_object_mut().expect("an object").remove(name);
        for wire in [null, missing] {
            let event = event_of(&wire.to_string());
            assert_eq!(event["type"], "unknown", "{wire}");
            assert_eq!(event["problem"], format!("`{name}` is missing"));
        }
    }
}

#[test]
fn section_3_5_content_parts_other_than_text_and_refusal_make_a_message_unknown() {
    let parts = [
        json!([{"type": "image", "url": "u"}]),
        json!([{"type": "text"}]),
        json!([{"type": "text", "text": 5}]),
        json!([{"type": "refusal", "text": "a"}]),
        json!([{"text": "a"}]),
        json!(["a"]),
        json!([null]),
        json!([{"type": "text", "text": "a"}, 5]),
    ];
    for content in parts {
        let wire = with("model.message", "/content", content);
        assert_eq!(event_of(&wire.to_string())["type"], "unknown", "{wire}");
    }
}

#[test]
fn section_3_7_indexes_that_are_none_make_a_delta_unknown() {
    for index in ["null", "-1", "-0", "0.5", "1e0", "1024", "4294967296", "18446744073709551616", "\"0\""] {
        let call = format!(r#"[{{"index":{index},"function":{{"arguments":"x"}}}}]"#);
        let data =
            format!(r#"{{"type":"model.message.delta","id":"m","thread_id":"main","tool_calls":{call}}}"#);
        let event = event_of(&data);
        assert_eq!(event["type"], "unknown", "{index}");
        assert_eq!(event["wire_type"], "model.message.delta");
    }
    let data = r#"{"type":"model.message.delta","id":"m","tool_calls":[{"function":{"arguments":"x"}}]}"#;
    assert_eq!(event_of(data)["problem"], "`index` is missing");
}

#[test]
fn a_turn_is_not_done_with_a_state_that_has_not_ended() {
    for state in [json!({"status": "running"}), json!({"status": ""}), json!({}), json!({"status": null})] {
        let wire = json!({"type": "turn.done", "id": "e", "state": state});
        assert_eq!(event_of(&wire.to_string())["type"], "unknown", "{wire}");
    }
}
