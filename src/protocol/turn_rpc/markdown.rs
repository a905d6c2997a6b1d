//! Skips the documents (`markdown`) that the gateway sends beside texts (section 10). They can be nested as deeply as
//! the author of a text likes, and are not needed.

use std::borrow::Cow;

use crate::json::Scanner;

/// The members that lead to items and to pieces of them. Elsewhere, members with these names are user data.
const WAY: [&str; 11] =
    ["params", "result", "item", "items", "payload", "event", "events", "thread", "turn", "turns", "data"];

/// The message without its documents, in one pass.
pub(super) fn without_markdown(message: &str) -> Cow<'_, str> {
    let mut scanner = Scanner::new(message);
    let mut kept = String::new();
    let mut taken = 0;
    while let Some(byte) = scanner.peek_value() {
        if byte != b'"' {
            scanner.accept(byte);
            continue;
        }
        // Invalid JSON is left to the reader of the message.
        let Ok(text) = scanner.string() else { break };
        // A string before a colon is a name.
        let is_on_way = !scanner.accept(b':') || WAY.contains(&text.raw());
        if is_on_way || !matches!(scanner.peek_value(), Some(b'{' | b'[')) {
            continue;
        }
        let start = scanner.at();
        if pass_over(&mut scanner).is_none() {
            break;
        }
        if text.raw() == "markdown" {
            kept.push_str(message.get(taken..start).unwrap_or_default());
            kept.push_str("null");
            taken = scanner.at();
        }
    }
    if taken == 0 {
        return Cow::Borrowed(message);
    }
    kept.push_str(message.get(taken..).unwrap_or_default());
    Cow::Owned(kept)
}

/// Skips an array or an object of any depth.
fn pass_over(scanner: &mut Scanner<'_>) -> Option<()> {
    let mut depth = 0_usize;
    loop {
        let byte = scanner.peek_value()?;
        match byte {
            b'"' => {
                scanner.string().ok()?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        scanner.accept(byte);
        if depth == 0 {
            return Some(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::without_markdown;

    /// A document that is nested more deeply than the JSON reader allows.
    fn deep() -> String {
        [
            r#"{"blocks":[{"type":"quote","said":"]}\"","#,
            &"[{\"a\":".repeat(200),
            "0",
            &"}]".repeat(200),
            "}]}",
        ]
        .concat()
        .replace(",[", r#","blocks":["#)
    }

    #[test]
    fn documents_are_passed_over_wherever_items_are() {
        let deep = deep();
        for message in [
            r#"{"method":"item/completed","params":{"item":{"type":"agentMessage","markdown":DEEP,"id":"a"}}}"#,
            r#"{"method":"item/agent_message/delta","params":{"delta":"a","markdown" : DEEP,"markdown_version":1}}"#,
            r#"{"result":{"events":[{"payload":{"item":{"markdown":DEEP,"id":"a"}}},{"payload":{"item":{"markdown":DEEP}}}]}}"#,
            r#"{"result":{"items":[{"payload":{"kind":"turn_item_event","event":{"payload":{"item":{"markdown":DEEP}}}}}]}}"#,
            r#"{"result":{"thread":{"turns":[{"items":[{"markdown":DEEP,"text":"markdown"}]}]}}}"#,
        ] {
            let whole = message.replace("DEEP", &deep);
            assert_eq!(without_markdown(&whole), message.replace("DEEP", "null"));
        }
    }

    #[test]
    fn what_a_tool_was_told_and_what_is_no_document_stays() {
        for message in [
            r#"{"params":{"item":{"type":"dynamicToolCall","arguments":{"markdown":{"a":1},"item":{"markdown":[1]}}}}}"#,
            r#"{"params":{"item":{"display":{"kind":"summary","metadata":{"markdown":{"kind":"null"}}}}}}"#,
            r##"{"params":{"item":{"markdown":"# Text","text":"\"markdown\":{"}}}"##,
            r#"{"params":["markdown",{"a":1}]}"#,
        ] {
            assert_eq!(without_markdown(message), message);
        }
    }

    #[test]
    fn what_is_no_json_stays_as_it_is() {
        for message in [r#"{"markdown":{"a":["#, r#"{"markdown":{"a":"\q"}}"#, "é\"", "{\"a", "ü:\"é\":{é}\""]
        {
            assert_eq!(without_markdown(message), message);
        }
    }
}
