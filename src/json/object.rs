//! The members of a JSON object, in their order.

use super::Value;
use std::borrow::Cow;

/// A JSON object: its members in the order of the source.
///
/// Members are found by a linear search from the end, which suits the few fields of an event and
/// lets the last of several members with one name win. Duplicates stay in the list until they are
/// removed: telling them apart while reading would make hostile objects quadratic.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Object<'a> {
    members: Vec<(Cow<'a, str>, Value<'a>)>,
}

impl<'a> Object<'a> {
    /// An object without members.
    pub const fn new() -> Self {
        Self { members: Vec::new() }
    }

    /// Whether there is no member.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The number of members, duplicates included.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&Value<'a>> {
        self.position(key).and_then(|at| self.members.get(at)).map(|(_, value)| value)
    }

    /// The text of `key`; empty if it is missing or no string.
    pub fn text(&self, key: &str) -> &str {
        self.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    /// The JSON of `key`; `null` if it is missing.
    pub fn json(&self, key: &str) -> String {
        self.get(key).map_or_else(|| "null".to_owned(), Value::to_json)
    }

    /// The object under `key`.
    pub fn object(&self, key: &str) -> Option<&Object<'a>> {
        self.get(key)?.as_object()
    }

    /// The elements of the array under `key`; none if it is missing.
    pub fn array(&self, key: &str) -> &[Value<'a>] {
        self.get(key).and_then(Value::as_array).unwrap_or_default()
    }

    /// The value of `key`, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value<'a>> {
        self.position(key).and_then(|at| self.members.get_mut(at)).map(|(_, value)| value)
    }

    /// Whether there is a member `key`.
    pub fn contains(&self, key: &str) -> bool {
        self.position(key).is_some()
    }

    /// Sets the value of `key`, in its place or at the end, and gives the value it had.
    pub fn insert(&mut self, key: impl Into<Cow<'a, str>>, value: impl Into<Value<'a>>) -> Option<Value<'a>> {
        self.insert_member(key.into(), value.into())
    }

    /// Sets the value of `key`, in its place or at the end.
    ///
    /// [`insert`](Self::insert) without its generic parameters and without the value before, which at
    /// every call would be code to drop it.
    pub(crate) fn set(&mut self, key: &'static str, value: Value<'a>) {
        match self.get_mut(key) {
            Some(old) => *old = value,
            None => self.push(Cow::Borrowed(key), value),
        }
    }

    /// Adds a member of a name that is not there yet, without looking.
    pub(crate) fn add(&mut self, key: String, value: Value<'a>) {
        self.push(Cow::Owned(key), value);
    }

    /// Removes `key`, all members of that name, and gives the value it had.
    pub fn remove(&mut self, key: &str) -> Option<Value<'a>> {
        let mut removed = None;
        for (name, value) in std::mem::take(&mut self.members) {
            if name == key {
                removed = Some(value);
            } else {
                self.push(name, value);
            }
        }
        removed
    }

    /// The members in order. Of duplicates, the last is the one that counts.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &Value<'a>)> {
        self.members.iter().map(|(key, value)| (&**key, value))
    }

    /// The same with its own copy of all text.
    pub fn into_owned(self) -> Object<'static> {
        let owned =
            |(key, value): (Cow<'a, str>, Value<'a>)| (Cow::Owned(key.into_owned()), value.into_owned());
        Object { members: self.members.into_iter().map(owned).collect() }
    }

    pub(super) fn push(&mut self, key: Cow<'a, str>, value: Value<'a>) {
        self.members.push((key, value));
    }

    fn insert_member(&mut self, key: Cow<'a, str>, value: Value<'a>) -> Option<Value<'a>> {
        if let Some(old) = self.get_mut(&key) {
            return Some(std::mem::replace(old, value));
        }
        self.push(key, value);
        None
    }

    fn position(&self, key: &str) -> Option<usize> {
        self.members.iter().rposition(|(name, _)| name == key)
    }
}

impl<'a> IntoIterator for Object<'a> {
    type Item = (Cow<'a, str>, Value<'a>);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.members.into_iter()
    }
}
