//! Reads typed fields out of a JSON object, with a problem that names the field.

use super::{Object, Value};
use crate::error::sentence;

/// Why an object is not what its type says.
pub type Problem = String;

/// A view of an object that reads typed fields.
#[derive(Debug, Clone, Copy)]
pub struct Fields<'v> {
    object: &'v Object<'v>,
}

impl<'v> Fields<'v> {
    /// The fields of `value`, which messages call `what`.
    pub fn of(value: &'v Value<'_>, what: &str) -> Result<Self, Problem> {
        match value {
            Value::Object(object) => Ok(Self { object }),
            _ => Err(sentence(&["`", what, "` is not an object"])),
        }
    }

    /// A field that is there and not null.
    pub fn value(self, name: &str) -> Option<&'v Value<'v>> {
        self.object.get(name).filter(|value| !value.is_null())
    }

    /// The names of all fields, in order.
    pub fn names(self) -> impl Iterator<Item = &'v str> {
        self.object.iter().map(|(name, _)| name)
    }

    /// A string that must be there.
    pub fn text(self, name: &str) -> Result<String, Problem> {
        self.maybe_text(name)?
            .ok_or_else(|| sentence(&["`", name, "` is missing"]))
    }

    /// A string.
    pub fn maybe_text(self, name: &str) -> Result<Option<String>, Problem> {
        self.read(name, "a string", |value| value.as_str().map(str::to_owned))
    }

    /// A whole number that is not negative.
    pub fn maybe_count(self, name: &str) -> Result<Option<u64>, Problem> {
        self.read(name, "a whole number", Value::as_u64)
    }

    /// A whole number that is not negative; 0 when it is missing.
    pub fn count(self, name: &str) -> Result<u64, Problem> {
        Ok(self.maybe_count(name)?.unwrap_or_default())
    }

    /// True or false.
    pub fn maybe_flag(self, name: &str) -> Result<Option<bool>, Problem> {
        self.read(name, "true or false", Value::as_bool)
    }

    /// An object under `name`, read by `read`.
    pub fn object<T>(
        self,
        name: &str,
        read: impl Fn(Fields<'v>) -> Result<T, Problem>,
    ) -> Result<Option<T>, Problem> {
        self.value(name)
            .map(|value| read(Fields::of(value, name)?))
            .transpose()
    }

    /// The objects of an array under `name`; none when it is missing.
    pub fn list<T>(
        self,
        name: &str,
        read: impl Fn(Fields<'v>) -> Result<T, Problem>,
    ) -> Result<Vec<T>, Problem> {
        self.array(name)?
            .iter()
            .map(|value| read(Fields::of(value, name)?))
            .collect()
    }

    /// The elements of an array under `name`; none when it is missing.
    pub fn array(self, name: &str) -> Result<&'v [Value<'v>], Problem> {
        match self.value(name) {
            None => Ok(&[]),
            Some(Value::Array(elements)) => Ok(elements),
            Some(_) => Err(wrong(name, "an array")),
        }
    }

    /// The members of an object under `name`, each with its JSON.
    pub fn raw_members(self, name: &str) -> Result<Option<Vec<(String, String)>>, Problem> {
        self.read(name, "an object", |value| {
            let members = value.as_object()?.iter();
            Some(
                members
                    .map(|(key, value)| (key.to_owned(), value.to_json()))
                    .collect(),
            )
        })
    }

    fn read<T>(
        self,
        name: &str,
        expected: &str,
        read: impl Fn(&'v Value<'v>) -> Option<T>,
    ) -> Result<Option<T>, Problem> {
        match self.value(name) {
            None => Ok(None),
            Some(value) => read(value).map(Some).ok_or_else(|| wrong(name, expected)),
        }
    }
}

/// The problem of a field that is there and is not what it should be.
pub fn wrong(name: &str, expected: &str) -> Problem {
    sentence(&["`", name, "` is not ", expected])
}
