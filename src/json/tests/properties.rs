//! The reader agrees with `serde_json`, and the writer with the reader.
//!
//! The oracle of what is JSON is serde's `IgnoredAny`, which checks a text without creating values: `serde_json` values
//! refuse lone surrogates and numbers that no float can hold. Both are JSON, and accepted here.

use super::strategies::{escapes, near_document, soup, text, value};
use crate::json::special::plain_len;
use crate::json::{Scanner, Value, write_str, write_u64};
use proptest::prelude::*;
use serde::de::IgnoredAny;
use serde_json::Value as Oracle;

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

fn skips(text: &str) -> bool {
    let mut scanner = Scanner::new(text);
    scanner.skip_value().and_then(|()| scanner.finish()).is_ok()
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
    }
}

/// The text of valid string source, by way of UTF-16 as JavaScript has it.
fn unescape_by_utf16(source: &str) -> String {
    let mut units = Vec::new();
    let mut characters = source.chars();
    while let Some(character) = characters.next() {
        let mut plain = |plain: char| units.extend_from_slice(plain.encode_utf16(&mut [0; 2]));
        match (character, character == '\\') {
            (_, false) => plain(character),
            (_, true) => match characters.next() {
                Some('u') => {
                    let digits: String = characters.by_ref().take(4).collect();
                    units.push(u16::from_str_radix(&digits, 16).expect("four digits"));
                }
                Some('b') => plain('\u{8}'),
                Some('f') => plain('\u{c}'),
                Some('n') => plain('\n'),
                Some('r') => plain('\r'),
                Some('t') => plain('\t'),
                Some(other) => plain(other),
                None => panic!("an escape without a character"),
            },
        }
    }
    String::from_utf16_lossy(&units)
}

fn check_against_oracle(text: &str) -> Result<(), TestCaseError> {
    let parsed = Value::parse(text);
    prop_assert_eq!(parsed.is_ok(), is_json(text), "{:?}", parsed);
    prop_assert_eq!(skips(text), parsed.is_ok());
    let mut scanner = Scanner::new(text);
    if let (Err(error), Err(skip_error)) = (&parsed, scanner.skip_value()) {
        prop_assert_eq!(error, &skip_error);
    }
    if let (Ok(value), Ok(oracle)) = (parsed, serde_json::from_str::<Oracle>(text)) {
        prop_assert_eq!(to_oracle(&value), oracle);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn near_documents(text in near_document()) {
        check_against_oracle(&text)?;
    }

    #[test]
    fn soups(text in soup()) {
        check_against_oracle(&text)?;
    }

    #[test]
    fn any_bytes_as_text(bytes in any::<Vec<u8>>()) {
        check_against_oracle(&String::from_utf8_lossy(&bytes))?;
    }

    #[test]
    fn values_survive_writing(value in value()) {
        let json = value.to_json();
        prop_assert!(is_json(&json));
        let read = Value::parse(&json).unwrap();
        prop_assert_eq!(&read, &value);
        prop_assert_eq!(read.clone().into_owned(), read);
    }

    #[test]
    fn strings_survive_both_ways(text in text()) {
        let mut ours = String::new();
        write_str(&mut ours, &text);
        let theirs = serde_json::to_string(&text).unwrap();
        prop_assert_eq!(&ours, &theirs);
        prop_assert_eq!(serde_json::from_str::<String>(&ours).unwrap(), &*text);
        prop_assert_eq!(Value::parse(&theirs).unwrap(), Value::from(text));
    }

    #[test]
    fn escapes_read_as_in_javascript(source in escapes()) {
        let json = format!("\"{source}\"");
        let string = Scanner::new(&json).string().unwrap();
        let want = unescape_by_utf16(&source);
        prop_assert_eq!(string.unescape(), &*want);
        prop_assert!(string.is(&want));
        let mut bytes = Vec::new();
        string.unescape_into_bytes(&mut bytes);
        prop_assert_eq!(bytes, want.as_bytes());
        if let Ok(oracle) = serde_json::from_str::<String>(&json) {
            prop_assert_eq!(want, oracle);
        }
    }

    #[test]
    fn integers_are_written_as_usual(number in any::<u64>(), shift in 0..64_u32) {
        let number = number >> shift;
        let mut out = String::new();
        write_u64(&mut out, number);
        prop_assert_eq!(out, number.to_string());
    }

    /// The word-wise search stops where a bytewise one does.
    #[test]
    fn plain_runs(bytes in proptest::collection::vec(
        prop_oneof![8 => 0x20..=0xFF_u8, 1 => 0..=0x22_u8, 1 => 0x5B..=0x5D_u8], 0..40,
    )) {
        let special = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
        let want = bytes.iter().position(special).unwrap_or(bytes.len());
        prop_assert_eq!(plain_len(&bytes), want);
    }
}
