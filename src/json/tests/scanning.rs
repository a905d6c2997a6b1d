//! The scanner's steps, as protocol code takes them.

use crate::json::JsonErrorKind::{
    ExpectedArray, ExpectedNumber, ExpectedObject, ExpectedString, ExpectedValue,
};
use crate::json::{JsonError, Scanner};

#[test]
fn walks_objects_and_arrays() {
    let text = r#" { "a" : [ 1 , "x" , { } ] , "b\n" : null , "c" : -2.50e1 } "#;
    let mut scanner = Scanner::new(text);
    scanner.begin_object().unwrap();
    let mut first_member = true;

    let key = scanner.next_key(&mut first_member).unwrap().unwrap();
    assert!(key.is("a") && !key.has_escapes());
    scanner.begin_array().unwrap();
    let mut first = true;
    assert!(scanner.next_element(&mut first).unwrap());
    assert_eq!(scanner.number(), Ok("1"));
    assert!(scanner.next_element(&mut first).unwrap());
    assert_eq!(scanner.string().unwrap().plain(), Some("x"));
    assert!(scanner.next_element(&mut first).unwrap());
    assert_eq!(scanner.raw_value(), Ok("{ }"));
    assert!(!scanner.next_element(&mut first).unwrap());

    let key = scanner.next_key(&mut first_member).unwrap().unwrap();
    assert!(key.is("b\n") && !key.is("b\\n") && key.has_escapes());
    assert_eq!((key.raw(), key.plain()), ("b\\n", None));
    assert!(!scanner.accept_literal("true"));
    assert!(scanner.accept_literal("null"));

    scanner.next_key(&mut first_member).unwrap().unwrap();
    assert_eq!(scanner.peek_value(), Some(b'-'));
    let start = scanner.at();
    assert_eq!(scanner.number(), Ok("-2.50e1"));
    assert_eq!(scanner.since(start), "-2.50e1");
    assert!(scanner.next_key(&mut first_member).unwrap().is_none());
    scanner.finish().unwrap();
    assert_eq!(scanner.at(), text.len());
}

#[test]
fn skips_one_value_and_stays_behind_it() {
    for value in [r#""a\"]""#, "-1.5", "true", "[[],{}]", r#"{"a":[{"b":"}"}]}"#] {
        for rest in ["", ",1", "]", " }"] {
            let text = format!("{value}{rest}");
            let mut scanner = Scanner::new(&text);
            scanner.skip_value().unwrap();
            assert_eq!(&text[scanner.at()..], rest);
        }
    }
}

#[test]
fn says_which_kind_was_expected() {
    let at_two = |what| JsonError { at: 2, what };
    let scanner = || Scanner::new("  true");
    assert_eq!(scanner().begin_object(), Err(at_two(ExpectedObject)));
    assert_eq!(scanner().begin_array(), Err(at_two(ExpectedArray)));
    assert_eq!(scanner().number(), Err(at_two(ExpectedNumber)));
    assert_eq!(scanner().string().unwrap_err(), at_two(ExpectedString));
    let mut at_value = scanner();
    at_value.skip_whitespace();
    assert_eq!(at_value.error(ExpectedValue), at_two(ExpectedValue));
}

#[test]
fn unescapes_into_buffers() {
    let mut scanner = Scanner::new(r#""caf\u00e9 \"1\"""#);
    let string = scanner.string().unwrap();
    assert_eq!(string.unescape(), "caf\u{e9} \"1\"");
    let mut text = String::from("<");
    string.unescape_into(&mut text);
    assert_eq!(text, "<caf\u{e9} \"1\"");
    let mut bytes = vec![b'<'];
    string.unescape_into_bytes(&mut bytes);
    assert_eq!(bytes, text.as_bytes());
}
