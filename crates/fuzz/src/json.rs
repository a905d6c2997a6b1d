//! Target `json`: the reader accepts what `serde_json` accepts, reads the same, and writes what it has read.

use serde::de::IgnoredAny;
use serde_json::Value as Oracle;
use turnwire::json::{JsonError, JsonErrorKind, MAX_DEPTH, Scanner, Value, write_str};

use crate::input::{Input, Plan};

/// Runs the target.
pub fn run(input: &[u8]) {
    let (mut plan, bytes) = Input::of(input);
    let text = String::from_utf8_lossy(bytes);
    check_document(&text);
    check_string(&text);
    walk(&mut plan, &text);
}

fn check_document(text: &str) {
    let parsed = Value::parse(text);
    let mut scanner = Scanner::new(text);
    let skipped = scanner.skip_value().and_then(|()| scanner.finish());
    assert_eq!(skipped.err(), parsed.as_ref().err().copied(), "skipped and parsed");
    match &parsed {
        Err(error) if error.what == JsonErrorKind::TooDeep => {
            assert_eq!(depth(text.get(..=error.at).unwrap_or_default()), MAX_DEPTH as usize + 1);
            return;
        }
        Err(error) => assert!(error.at <= text.len() && text.is_char_boundary(error.at), "{error:?}"),
        Ok(_) => {}
    }
    // serde's own values refuse lone surrogates and numbers that no float can hold; both are JSON.
    assert_eq!(parsed.is_ok(), serde_json::from_str::<IgnoredAny>(text).is_ok(), "{parsed:?}");
    let Ok(value) = parsed else { return };
    if let Ok(oracle) = serde_json::from_str::<Oracle>(text) {
        assert_eq!(to_oracle(&value), oracle);
    }
    let json = value.to_json();
    assert!(serde_json::from_str::<IgnoredAny>(&json).is_ok(), "what was written is JSON: {json}");
    assert_eq!(Value::parse(&json).as_ref(), Ok(&value), "what was written reads the same");
    assert_eq!(value.clone().into_owned(), value);
}

/// How deep the arrays and objects of the beginning of a document are nested.
fn depth(text: &str) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

fn to_oracle(value: &Value<'_>) -> Oracle {
    match value {
        Value::Null => Oracle::Null,
        Value::Bool(value) => Oracle::Bool(*value),
        Value::Number(text) => serde_json::from_str(text).expect("a number that floats can hold"),
        Value::String(text) => Oracle::String(text.to_string()),
        Value::Array(elements) => elements.iter().map(to_oracle).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.to_owned(), to_oracle(value))).collect()
        }
        #[allow(unreachable_patterns, reason = "kinds of values that are still to come")]
        _ => panic!("a value of a new kind"),
    }
}

/// Any text survives being written as a string.
fn check_string(text: &str) {
    let mut json = String::new();
    write_str(&mut json, text);
    assert_eq!(serde_json::from_str::<String>(&json).expect("a string"), text);
    let mut scanner = Scanner::new(&json);
    let string = scanner.string().expect("a string");
    assert_eq!(string.unescape(), text);
    assert!(string.is(text));
    let mut bytes = Vec::new();
    string.unescape_into_bytes(&mut bytes);
    assert_eq!(bytes, text.as_bytes());
    assert_eq!(scanner.finish(), Ok(()));
}

/// Takes the scanner's steps in an order that the text may not be made for.
fn walk(plan: &mut Plan, text: &str) {
    let mut scanner = Scanner::new(text);
    let (mut first, mut start) = (true, 0);
    for _ in 0..64 {
        assert!(scanner.at() <= text.len() && text.is_char_boundary(scanner.at()));
        if step(plan, &mut scanner, &mut first).is_err() {
            break;
        }
        if plan.once_in(4) {
            assert!(text.contains(scanner.since(start)));
            start = scanner.at();
        }
    }
}

fn step(plan: &mut Plan, scanner: &mut Scanner<'_>, first: &mut bool) -> Result<(), JsonError> {
    match plan.below(11) {
        0 => scanner.string().map(drop),
        1 => scanner.number().map(drop),
        2 => scanner.begin_object().map(|()| *first = true),
        3 => scanner.next_key(first).map(drop),
        4 => scanner.begin_array().map(|()| *first = true),
        5 => scanner.next_element(first).map(drop),
        6 => scanner.skip_value(),
        7 => scanner.raw_value().map(|raw| assert!(Value::parse(raw).is_ok(), "{raw}")),
        8 => Value::read(scanner).map(drop),
        9 => {
            for literal in ["true", "false", "null"] {
                scanner.accept_literal(literal);
            }
            Ok(())
        }
        _ => {
            scanner.accept(b"{}[],:\"-0"[plan.below(9)]);
            Ok(())
        }
    }
}
