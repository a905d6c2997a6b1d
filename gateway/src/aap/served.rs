//! What the server itself makes of a call that a page should have run, when it is told to run it.

use serde_json::{Map, Value};

use super::message::Call;

/// The result of a call for which no script has one.
pub(super) fn serve(call: &Call) -> String {
    let served = match call.name.as_str() {
        "ask_user_question" => recommended(&call.input),
        "clock" => call.input.get("zone").and_then(Value::as_str).map(|zone| format!("09:30 ({zone})")),
        "calculator" => product(&call.input),
        _ => None,
    };
    served.unwrap_or_else(|| format!("Tool not found: {}", call.name))
}

/// The option that the agent itself would choose.
fn recommended(input: &Map<String, Value>) -> Option<String> {
    let options: Vec<&str> = input.get("options")?.as_array()?.iter().filter_map(Value::as_str).collect();
    let best = options.iter().find(|option| option.contains("(Recommended)")).or(options.first());
    best.map(|option| (*option).to_owned())
}

/// Products are all that the scripts ask for.
fn product(input: &Map<String, Value>) -> Option<String> {
    let (left, right) = input.get("expression")?.as_str()?.split_once('*')?;
    let product = left.trim().parse::<u64>().ok()?.checked_mul(right.trim().parse().ok()?)?;
    Some(product.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn served(name: &str, input: &Value) -> String {
        let input = input.as_object().cloned().unwrap_or_default();
        serve(&Call { id: "c".to_owned(), name: name.to_owned(), input })
    }

    #[test]
    fn tools_of_pages_have_answers() {
        assert_eq!(served("calculator", &json!({"expression": "6*7"})), "42");
        assert_eq!(served("clock", &json!({"zone": "Asia/Tokyo"})), "09:30 (Asia/Tokyo)");
        assert_eq!(
            served("ask_user_question", &json!({"options": ["a", "b (Recommended)"]})),
            "b (Recommended)"
        );
        assert_eq!(served("calculator", &json!({"expression": "six"})), "Tool not found: calculator");
        assert_eq!(served("fly", &json!({})), "Tool not found: fly");
    }
}
