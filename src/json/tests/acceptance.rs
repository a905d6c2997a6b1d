//! What is JSON and what is not, numbered by the sections of RFC 8259.

use crate::json::JsonErrorKind::{
    ControlCharacter, ExpectedColon, ExpectedCommaOrBrace, ExpectedCommaOrBracket, ExpectedString,
    ExpectedValue, InvalidEscape, InvalidNumber, TooDeep, TrailingCharacters, UnterminatedString,
};
use crate::json::{JsonError, JsonErrorKind, MAX_DEPTH, Scanner, Value};

/// Section, text, its compact form.
const ACCEPTED: &[(&str, &str, &str)] = &[
    ("2 white space", " \t\r\n1 \t\r\n", "1"),
    ("3 literals", "[true,false,null]", "[true,false,null]"),
    ("3 any value is a document", "\"a\"", "\"a\""),
    ("4 no members", "{ }", "{}"),
    ("4 members", r#"{ "a" : 1 , "" : {} }"#, r#"{"a":1,"":{}}"#),
    ("5 no elements", "[ ]", "[]"),
    ("5 elements", "[ 1 , [ 2 ] , {} ]", "[1,[2],{}]"),
    (
        "6 numbers",
        "[0,-0,10,1.5,-1.05,1e5,1E+5,1.0e-05,0.0,0e0]",
        "[0,-0,10,1.5,-1.05,1e5,1E+5,1.0e-05,0.0,0e0]",
    ),
    (
        "6 any range and precision",
        "[1e999,123456789012345678901234567890,0.1000000000000000055511151231257827]",
        "[1e999,123456789012345678901234567890,0.1000000000000000055511151231257827]",
    ),
    (
        "7 escapes",
        r#""\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\ud83d\uDE00\u0000\u001f""#,
        "\"\\\"\\\\/\\b\\f\\n\\r\\tA\u{e9}\u{20ac}\u{1f600}\\u0000\\u001f\"",
    ),
    ("7 unescaped", "\"\u{7f}\u{80}\u{2028}\u{1f600}/'\"", "\"\u{7f}\u{80}\u{2028}\u{1f600}/'\""),
    (
        "8.2 lone surrogates are replaced",
        r#""\ud800 \udc00 \ud800\u0041 \ud800\ud83d\ude00 \udc00\ud800""#,
        "\"\u{fffd} \u{fffd} \u{fffd}A \u{fffd}\u{1f600} \u{fffd}\u{fffd}\"",
    ),
];

const REJECTED: &[(&str, &str, usize, JsonErrorKind)] = &[
    ("2", "", 0, ExpectedValue),
    ("2", "  ", 2, ExpectedValue),
    ("2", "1 2", 2, TrailingCharacters),
    ("2", "{}}", 2, TrailingCharacters),
    ("2 white space is ASCII", "\u{a0}1", 0, ExpectedValue),
    ("2 no form feed", "\u{c}1", 0, ExpectedValue),
    ("2 no comments", "/**/1", 0, ExpectedValue),
    ("2 no byte order mark", "\u{feff}1", 0, ExpectedValue),
    ("3", "True", 0, ExpectedValue),
    ("3", "nul", 0, ExpectedValue),
    ("3", "truex", 4, TrailingCharacters),
    ("3", "NaN", 0, ExpectedValue),
    ("4", "{", 1, ExpectedString),
    ("4", "{1:2}", 1, ExpectedString),
    ("4", r#"{"a"}"#, 4, ExpectedColon),
    ("4", r#"{"a":}"#, 5, ExpectedValue),
    ("4", r#"{"a":1"#, 6, ExpectedCommaOrBrace),
    ("4", r#"{"a":1]"#, 6, ExpectedCommaOrBrace),
    ("4", r#"{"a":1 "b":2}"#, 7, ExpectedCommaOrBrace),
    ("4 no trailing comma", r#"{"a":1,}"#, 7, ExpectedString),
    ("4", "{,}", 1, ExpectedString),
    ("5", "[", 1, ExpectedValue),
    ("5", "[1", 2, ExpectedCommaOrBracket),
    ("5", "[1}", 2, ExpectedCommaOrBracket),
    ("5", "[1 2]", 3, ExpectedCommaOrBracket),
    ("5 no trailing comma", "[1,]", 3, ExpectedValue),
    ("5", "[,]", 1, ExpectedValue),
    ("6 no leading zero", "01", 1, InvalidNumber),
    ("6", "-", 1, InvalidNumber),
    ("6", "-a", 1, InvalidNumber),
    ("6", "+1", 0, ExpectedValue),
    ("6", ".5", 0, ExpectedValue),
    ("6", "1.", 2, InvalidNumber),
    ("6", "1.e5", 2, InvalidNumber),
    ("6", "1e", 2, InvalidNumber),
    ("6", "1e+", 3, InvalidNumber),
    ("6", "1e+-1", 3, InvalidNumber),
    ("6", "0x10", 1, TrailingCharacters),
    ("6", "-Infinity", 1, InvalidNumber),
    ("7", "\"", 1, UnterminatedString),
    ("7", "\"abcdefghijklmnop", 17, UnterminatedString),
    ("7", "\"a\\", 2, InvalidEscape),
    ("7", r#""a\""#, 4, UnterminatedString),
    ("7", r#""\x41""#, 1, InvalidEscape),
    ("7", r#""\u12""#, 1, InvalidEscape),
    ("7", r#""\u+123""#, 1, InvalidEscape),
    ("7", r#""\u12G4""#, 1, InvalidEscape),
    ("7", r#""\u1é4""#, 1, InvalidEscape),
    ("7", r#""\U0041""#, 1, InvalidEscape),
    ("7", "\"a\nb\"", 2, ControlCharacter),
    ("7", "\"0123456789\u{1f}\"", 11, ControlCharacter),
    ("7", "\"\0\"", 1, ControlCharacter),
    ("7", "'a'", 0, ExpectedValue),
];

#[test]
fn accepted() {
    for (rule, text, compact) in ACCEPTED {
        let value = Value::parse(text).unwrap_or_else(|error| panic!("{rule}: {text}: {error}"));
        assert_eq!(value.to_json(), *compact, "{rule}");
        assert_eq!(value.into_owned().to_json(), *compact, "{rule}");
        assert_eq!(skip(text), Ok(text.trim_ascii()), "{rule}");
    }
}

#[test]
fn rejected() {
    for (rule, text, at, what) in REJECTED {
        let error = JsonError { at: *at, what: *what };
        assert_eq!(Value::parse(text), Err(error), "{rule}: {text}");
        assert_eq!(skip(text), Err(error), "{rule}: {text}");
    }
}

/// Every prefix of a document is refused, at its end.
#[test]
fn cut_documents() {
    let text = r#"{"a":[1.5e3,{"b":"c\u00e9\n"}],"d":[true,false,null,{}]}"#;
    for end in 0..text.len() {
        let cut = &text[..end];
        assert!(Value::parse(cut).is_err(), "{cut}");
        assert!(skip(cut).is_err(), "{cut}");
    }
    assert!(Value::parse(text).is_ok());
}

#[test]
fn depth_is_limited() {
    for (open, inside, close) in [("[", "", "]"), ("{\"a\":", "1", "}"), ("[{\"a\":", "1", "}]")] {
        let levels = open.len() - open.replace(['[', '{'], "").len();
        let nested = |depth: usize| {
            let times = depth / levels;
            format!("{}{inside}{}", open.repeat(times), close.repeat(times))
        };
        let deepest = nested(MAX_DEPTH as usize);
        let value = Value::parse(&deepest).unwrap();
        assert_eq!(value.to_json(), deepest);
        assert_eq!(skip(&deepest), Ok(deepest.as_str()));

        let too_deep = nested(MAX_DEPTH as usize + levels);
        assert_eq!(Value::parse(&too_deep).unwrap_err().what, TooDeep);
        assert_eq!(skip(&too_deep).unwrap_err().what, TooDeep);
    }
    let hostile = "[".repeat(1_000_000);
    assert_eq!(Value::parse(&hostile).unwrap_err().what, TooDeep);
    assert_eq!(skip(&hostile).unwrap_err().what, TooDeep);
}

/// Depth counts what is open, not what was.
#[test]
fn breadth_is_not_depth() {
    let text = format!("[{}[]]", "[{}],{\"a\":[]},".repeat(1_000));
    assert_eq!(Value::parse(&text).unwrap().to_json(), text);
    assert_eq!(skip(&text), Ok(text.as_str()));
}

#[test]
fn errors_say_what_and_where() {
    let message = Value::parse(r#"{"a":1 "b":2}"#).unwrap_err().to_string();
    assert_eq!(message, "expected `,` or `}` at byte 7");
}

fn skip(text: &str) -> Result<&str, JsonError> {
    let mut scanner = Scanner::new(text);
    let raw = scanner.raw_value()?;
    scanner.finish()?;
    Ok(raw)
}
