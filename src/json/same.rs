//! Compares two JSON values.

use super::Value;
use crate::names::Names;

/// Whether two values are equal, in any order of members. Numbers are compared as they are written.
pub(crate) fn is_same(one: &Value<'_>, other: &Value<'_>) -> bool {
    match (one, other) {
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let mut names = Names::default();
            let mut pairs: Vec<[Option<&Value<'_>>; 2]> = Vec::new();
            for (side, members) in [one, other].into_iter().enumerate() {
                for (name, value) in members.iter() {
                    let (number, is_new) = names.number(name);
                    if is_new {
                        pairs.push([None, None]);
                    }
                    if let Some(pair) = pairs.get_mut(number as usize) {
                        // Of several members with one name, the last one counts.
                        pair[side] = Some(value);
                    }
                }
            }
            pairs.iter().all(|pair| matches!(pair, [Some(one), Some(other)] if is_same(one, other)))
        }
        _ => one == other,
    }
}
