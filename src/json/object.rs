//! A JSON object, with its members in order.

use super::Value;
use std::borrow::Cow;

/// A JSON object: its members in the order of the source.
///
/// A linear search from the end finds members. That suits the few fields of an event, and the last of several members
/// with one name counts. Duplicates stay until they are removed: detecting them while reading would take quadratic time
/// for hostile objects.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Object<'a> {
    members: Vec<(Cow<'a, str>, Value<'a>)>,
}

impl<'a> Object<'a> {
    /// An object without members.
    pub const fn new() -> Self {
        Self { members: Vec::new() }
    }

    /// Whether the object has no members.
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

    /// The text of `key`; empty if it is missing or not a string.
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

    /// The value of `key`, mutable.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value<'a>> {
        self.position(key).and_then(|at| self.members.get_mut(at)).map(|(_, value)| value)
    }

    /// Whether the object has a member `key`.
    pub fn contains(&self, key: &str) -> bool {
        self.position(key).is_some()
    }

    /// Sets the value of `key`, in its place or at the end, and returns the old value.
    pub fn insert(&mut self, key: impl Into<Cow<'a, str>>, value: impl Into<Value<'a>>) -> Option<Value<'a>> {
        self.insert_member(key.into(), value.into())
    }

    /// Sets the value of `key`, in its place or at the end.
    ///
    /// Like [`insert`](Self::insert), but without generic parameters and without returning the old value, which would
    /// add code to drop it at every call.
    pub(crate) fn set(&mut self, key: &'static str, value: Value<'a>) {
        match self.get_mut(key) {
            Some(old) => *old = value,
            None => self.push(Cow::Borrowed(key), value),
        }
    }

    /// Adds a member with a new name, without looking for an existing one.
    pub(crate) fn add(&mut self, key: String, value: Value<'a>) {
        self.push(Cow::Owned(key), value);
    }

    /// Removes all members named `key`, and returns the value it had.
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

    /// The values of the members, mutable, in order.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut Value<'a>> {
        self.members.iter_mut().map(|(_, value)| value)
    }

    /// The same object with its own copy of all text.
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
