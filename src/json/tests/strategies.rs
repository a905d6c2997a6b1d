//! Random values, documents and near-documents.

use crate::json::{Object, Value};
use proptest::collection::vec;
use proptest::prelude::*;

/// Pieces of text that JSON consists of, and pieces that make it invalid.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    " ",
    "\n",
    "\t",
    "\r",
    "\u{c}",
    "\0",
    "\u{1f}",
    "0",
    "1",
    "-",
    "+",
    ".",
    "e",
    "E",
    "12",
    "1e5",
    "true",
    "false",
    "null",
    "nul",
    "\"a\":",
    "\"a\"",
    "\\u",
    "\\u00e9",
    "\\ud83d",
    "\\ude00",
    "\\n",
    "\\/",
    "\\x",
    "\u{e9}",
    "\u{20ac}",
    "\u{1f600}",
    "\u{2028}",
    "/",
    "[]",
    "{}",
    "01",
];

pub(super) fn text() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        4 => proptest::char::range(' ', '~'),
        1 => proptest::char::range('\0', '\u{1f}'),
        1 => prop::sample::select(vec!['"', '\\', '/', '\u{7f}', '\u{2028}', '\u{fffd}']),
        1 => any::<char>(),
    ];
    vec(character, 0..20).prop_map(String::from_iter)
}

/// String source made of escapes and what is near them, quotes apart.
pub(super) fn escapes() -> impl Strategy<Value = String> {
    let unit = prop_oneof![0xD700..=0xE0FF_u32, 0..=0xFF_u32, 0..=0xFFFF_u32];
    let piece = prop_oneof![
        4 => unit.prop_map(|unit| format!("\\u{unit:04x}")),
        1 => prop::sample::select(vec!["\\n", "\\\\", "\\\"", "\\/", "\\b", "\\f", "\\r", "\\t"])
            .prop_map(str::to_owned),
        1 => "[a-z\u{e9}\u{1f600}]{1,12}",
    ];
    vec(piece, 0..10).prop_map(|pieces| pieces.concat())
}

pub(super) fn value() -> impl Strategy<Value = Value<'static>> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,5})?([eE][+-]?[0-9]{1,2})?"
            .prop_map(|number| Value::Number(number.into())),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        let members = vec((text(), inner.clone()), 0..6).prop_map(|members| {
            let mut object = Object::new();
            for (name, value) in members {
                object.insert(name, value);
            }
            Value::from(object)
        });
        prop_oneof![vec(inner, 0..6).prop_map(Value::from), members]
    })
}

/// A document with white space, doubled names and unusual escapes, or one damaged in a few places.
pub(super) fn near_document() -> impl Strategy<Value = String> {
    let document = (value(), any::<bool>()).prop_map(|(value, spaced)| {
        let json = value.to_json();
        if spaced { json.replace(',', " ,\n\"a\":\t").replace(']', " ] ") } else { json }
    });
    let edit = (any::<prop::sample::Index>(), 0..3_usize, prop::sample::select(PIECES));
    (document, vec(edit, 0..4)).prop_map(|(mut text, edits)| {
        for (place, removed, piece) in edits {
            let starts: Vec<usize> = (0..=text.len()).filter(|at| text.is_char_boundary(*at)).collect();
            let from = place.index(starts.len());
            let to = (from + removed).min(starts.len() - 1);
            text.replace_range(starts[from]..starts[to], piece);
        }
        text
    })
}

/// Pieces in any order.
pub(super) fn soup() -> impl Strategy<Value = String> {
    vec(prop::sample::select(PIECES), 0..20).prop_map(|pieces| pieces.concat())
}
