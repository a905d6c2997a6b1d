//! For tests: damages JSON at a chosen place.

use proptest::sample::Index;
use serde_json::Value as Json;

/// The place of one of its values, which may be the whole document.
pub(crate) fn place(json: &mut Json, at: Index) -> &mut Json {
    let mut number = at.index(nodes(json));
    node(json, &mut number).expect("it has so many values")
}

fn nodes(json: &Json) -> usize {
    1 + match json {
        Json::Array(items) => items.iter().map(nodes).sum(),
        Json::Object(members) => members.values().map(nodes).sum(),
        _ => 0,
    }
}

/// The node with that number, counted depth first.
fn node<'j>(json: &'j mut Json, number: &mut usize) -> Option<&'j mut Json> {
    if *number == 0 {
        return Some(json);
    }
    *number -= 1;
    match json {
        Json::Array(items) => items.iter_mut().find_map(|item| node(item, number)),
        Json::Object(members) => members.values_mut().find_map(|member| node(member, number)),
        _ => None,
    }
}
