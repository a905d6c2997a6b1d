//! A server's own results for calls that a page or its user should have answered.

use serde_json::{Map, Value};

/// The result of a call for which no script has one.
pub(crate) fn serve(tool: &str, input: &Map<String, Value>) -> String {
    let served = match tool {
        "ask_user_question" => recommended(input),
        "clock" => input.get("zone").and_then(Value::as_str).map(|zone| format!("09:30 ({zone})")),
        "calculator" => product(input),
        _ => None,
    };
    served.unwrap_or_else(|| format!("Tool not found: {tool}"))
}

/// The option that the agent prefers.
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
        serve(name, &input.as_object().cloned().unwrap_or_default())
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
