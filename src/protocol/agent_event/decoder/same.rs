//! Compares two JSON documents.

use crate::json::{Object, Value};

/// The most members that are looked up in the other object if their order differs.
const LOOKED_UP: usize = 256;

/// Whether two values are equal, in any order of members. Numbers in different notations, and large objects in
/// different orders, count as different.
pub(super) fn is_same(one: &Value<'_>, other: &Value<'_>) -> bool {
    match (one, other) {
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len() && has_same_members(one, other)
        }
        _ => one == other,
    }
}

fn has_same_members(one: &Object<'_>, other: &Object<'_>) -> bool {
    let has_same_order = one.iter().zip(other.iter()).all(|((one, _), (other, _))| one == other);
    if has_same_order {
        return one.iter().zip(other.iter()).all(|((_, one), (_, other))| is_same(one, other));
    }
    one.len() <= LOOKED_UP
        && one.iter().all(|(name, _)| {
            // Of members with one name the last one counts.
            matches!((one.get(name), other.get(name)), (Some(one), Some(other)) if is_same(one, other))
        })
}
