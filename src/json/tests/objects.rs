//! Objects, accessors, and the writer for hand-built objects.

use crate::json::{Object, ObjectWriter, Value, write_u64};

#[test]
fn the_last_of_several_members_wins() {
    let text = r#"{"a":1,"b":2,"a":3}"#;
    let mut value = Value::parse(text).unwrap();
    assert_eq!(value.get("a").and_then(Value::as_u64), Some(3));
    let object = value.as_object_mut().unwrap();
    assert_eq!(object.len(), 3);

    let old = object.insert("a", 4);
    assert_eq!(old.and_then(|old| old.as_u64()), Some(3));
    assert_eq!(object.get("a").and_then(Value::as_u64), Some(4));
    let removed = object.remove("a");
    assert_eq!(removed.and_then(|old| old.as_u64()), Some(4));
    assert!(!object.contains("a"));
    assert_eq!(object.remove("a"), None);
    assert_eq!(value.to_json(), r#"{"b":2}"#);
}

#[test]
fn members_keep_their_order() {
    let mut object = Object::new();
    assert!(object.is_empty());
    object.insert("z", "1");
    object.insert("a", true);
    object.insert(String::from("m"), Value::Null);
    object.insert("z", vec![Value::from(2)]);
    if let Some(value) = object.get_mut("a") {
        *value = Value::from(Object::new());
    }
    let keys: Vec<_> = object.iter().map(|(key, _)| key).collect();
    assert_eq!(keys, ["z", "a", "m"]);
    let owned = Value::from(object).into_owned();
    assert_eq!(owned.to_json(), r#"{"z":[2],"a":{},"m":null}"#);
}

#[test]
fn accessors_return_their_own_kind_only() {
    let text = r#"[null,true,"t",[],{},17,-17,1.5,1e2,18446744073709551616,1e999]"#;
    let value = Value::parse(text).unwrap();
    let elements = value.as_array().unwrap();
    let count = |is: fn(&Value<'_>) -> bool| elements.iter().filter(|value| is(value)).count();
    assert_eq!(elements.iter().filter(|value| value.is_null()).count(), 1);
    assert_eq!(count(|value| value.as_bool() == Some(true)), 1);
    assert_eq!(count(|value| value.as_str() == Some("t")), 1);
    assert_eq!(count(|value| value.as_array().is_some()), 1);
    assert_eq!(count(|value| value.as_object().is_some()), 1);
    assert_eq!(count(|value| value.number_text().is_some()), 6);

    let integers: Vec<_> = elements.iter().filter_map(Value::as_i64).collect();
    assert_eq!(integers, [17, -17]);
    let naturals: Vec<_> = elements.iter().filter_map(Value::as_u64).collect();
    assert_eq!(naturals, [17]);
    assert_eq!(value.get("a"), None);
}

#[test]
fn borrows_what_it_can() {
    let text = String::from(r#"{"plain":"text","n":12,"esc":"\n"}"#);
    let value = Value::parse(&text).unwrap();
    let source = text.as_bytes().as_ptr_range();
    let lent = |part: Option<&str>| part.is_some_and(|part| source.contains(&part.as_ptr()));
    assert!(lent(value.get("plain").and_then(Value::as_str)));
    assert!(lent(value.get("n").and_then(Value::number_text)));
    assert!(!lent(value.get("esc").and_then(Value::as_str)));
}

/// Escapes stay as in the source. Only lone surrogates, which no text can hold, are replaced.
#[test]
fn writes_strings_as_their_source_was() {
    let source = r#"{"a":"x\/y\n\"","b":"\ud800\u00e9","c":"\u000A"}"#;
    let value = Value::parse(source).unwrap();
    let text = |name| value.get(name).and_then(Value::as_str);
    let json = "{\"a\":\"x\\/y\\n\\\"\",\"b\":\"\u{fffd}\u{e9}\",\"c\":\"\\n\"}";
    assert_eq!(value.to_json(), json);
    assert_eq!([text("a"), text("b"), text("c")], [Some("x/y\n\""), Some("\u{fffd}\u{e9}"), Some("\n")]);
    assert_eq!(value.to_json(), json, "also once it was read");
    assert_eq!(value.clone(), value.clone().into_owned());
    assert_eq!(value.get("c"), Some(&Value::from("\n")));
}

#[test]
fn writes_objects_member_by_member() {
    let mut out = String::from("> ");
    let mut object = ObjectWriter::new(&mut out);
    object.str("a\"", "\u{1}\u{2028}\\").u64("b", 0).bool("c", false);
    object.null("d").raw("e", "[1]").value("f", &Value::from("x"));
    ObjectWriter::new(object.member("g")).bool("h", true).end();
    object.end();
    let json = r#"{"a\"":"\u0001U\\","b":0,"c":false,"d":null,"e":[1],"f":"x","g":{"h":true}}"#;
    assert_eq!(out, format!("> {}", json.replace('U', "\u{2028}")));

    let mut empty = String::new();
    ObjectWriter::new(&mut empty).end();
    assert_eq!(empty, "{}");
}

#[test]
fn writes_integers() {
    for number in [0, 1, 9, 10, 99, 100, 1_000_000_007, u64::MAX / 10, u64::MAX] {
        let mut out = String::new();
        write_u64(&mut out, number);
        assert_eq!(out, number.to_string());
    }
}
