//! Events as JSON, checked against their Rust types.

use serde_json::{Value as Json, json};
use turnwire::event::{Event, EventRef, TextDelta, TextField};

/// A piece of text, as the event that it is.
pub(crate) fn of_delta(delta: &TextDelta<'_>) -> Json {
    let mut event = json!({"type": "model.message.delta", "id": delta.id, "thread_id": delta.thread_id});
    match delta.field {
        TextField::Content => event["content"] = delta.text.into(),
        TextField::Reasoning => event["reasoning_content"] = delta.text.into(),
        TextField::Arguments(index) => {
            event["tool_calls"] = json!([{"index": index, "function": {"arguments": delta.text}}]);
        }
    }
    event
}

/// An event: each in turnwire's form is one of the Rust types, with the same fields. Whether it is known, the
/// caller decides.
pub(crate) fn of_event(event: EventRef<'_>, may_be_unknown: bool) -> Json {
    let typed = event.to_event();
    let json: Json = serde_json::from_str(&event.fields.to_json()).expect("JSON");
    let is_unknown = may_be_unknown && json["type"] == "unknown";
    assert!(is_unknown || !matches!(typed, Event::Unknown(_)), "{typed:?}");
    let again = serde_json::to_value(&typed).expect("JSON");
    assert_eq!(comparable(again), comparable(json.clone()));
    json
}

/// The fields that say something. An output has a type for JSON alone.
fn comparable(mut event: Json) -> Json {
    for owner in ["/state/output", "/output"] {
        if let Some(output) = event.pointer_mut(owner).and_then(Json::as_object_mut) {
            output.remove("type");
        }
    }
    without_nulls(event)
}

fn without_nulls(json: Json) -> Json {
    match json {
        Json::Array(items) => items.into_iter().map(without_nulls).collect(),
        Json::Object(members) => {
            let said = members.into_iter().map(|(name, value)| (name, without_nulls(value)));
            said.filter(|(_, value)| !value.is_null()).collect()
        }
        other => other,
    }
}
