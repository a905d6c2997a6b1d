//! Values in a form that can be compared: members in any order, numbers as written.

use serde_json::Value as Json;
use turnwire::event::{TextDelta, TextField};
use turnwire::json::Value;

/// A value. Of duplicate members the last one counts.
pub fn of(value: &Value<'_>) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Number(text) => number(text),
        Value::String(text) => Json::String(text.to_string()),
        Value::Array(elements) => elements.iter().map(of).collect(),
        Value::Object(members) => members.iter().map(|(name, value)| (name.to_owned(), of(value))).collect(),
        #[allow(unreachable_patterns, reason = "kinds of values that are still to come")]
        _ => panic!("a value of a new kind"),
    }
}

/// JSON that the core has made.
pub fn of_json(json: &str) -> Json {
    of(&Value::parse(json).expect("JSON"))
}

/// A delta that is passed on unchanged, without the number that is set on delivery.
pub fn of_own_json(json: &str) -> Json {
    let mut event = of_json(json);
    if let Some(event) = event.as_object_mut() {
        event.remove("sequence_number");
    }
    event
}

/// A text delta as the event that the wire names.
pub fn of_delta(delta: &TextDelta<'_>) -> Json {
    if let Some(others) = delta.others {
        return of_json(&others.to_json(delta.field, delta.text));
    }
    let name = match delta.field {
        TextField::Content => "content",
        TextField::Reasoning => "reasoning_content",
        TextField::Arguments(_) => "tool_calls",
    };
    let text = match delta.field {
        TextField::Arguments(index) => Json::Array(vec![object([
            ("index", number(&index.to_string())),
            ("function", object([("arguments", delta.text.into())])),
        ])]),
        _ => delta.text.into(),
    };
    let mut event = object([
        ("type", "model.message.delta".into()),
        ("id", delta.id.into()),
        ("thread_id", delta.thread_id.into()),
        (name, text),
    ]);
    if let Some(time) = delta.created_at {
        event["created_at"] = time.into();
    }
    event
}

/// The same without members that are null, which have no meaning.
pub fn without_nulls(json: Json) -> Json {
    match json {
        Json::Array(items) => items.into_iter().map(without_nulls).collect(),
        Json::Object(members) => {
            let said = members.into_iter().map(|(name, value)| (name, without_nulls(value)));
            said.filter(|(_, value)| !value.is_null()).collect()
        }
        other => other,
    }
}

/// No float can hold every number, and no text of an event is taken for one.
fn number(text: &str) -> Json {
    Json::Array(vec!["number".into(), text.into()])
}

fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
