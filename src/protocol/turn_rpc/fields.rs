//! Reads members of the servers' objects. Each read is a call and not inlined, since there are many.

use crate::json::{Object, Value};
use crate::text::cut;

/// The objects in a list; other values are skipped.
#[derive(Clone)]
pub(super) struct Objects<'o, 'a>(std::slice::Iter<'o, Value<'a>>);

impl<'o, 'a> Objects<'o, 'a> {
    pub(super) fn of(values: &'o [Value<'a>]) -> Self {
        Self(values.iter())
    }
}

impl<'o, 'a> Iterator for Objects<'o, 'a> {
    type Item = &'o Object<'a>;

    #[inline(never)]
    fn next(&mut self) -> Option<Self::Item> {
        self.0.find_map(Value::as_object)
    }
}

/// The objects in the list of this name; none if it is missing.
pub(super) fn objects<'o, 'a>(fields: &'o Object<'a>, name: &str) -> Objects<'o, 'a> {
    Objects::of(fields.array(name))
}

/// The object that a value is; an empty one if it is none.
pub(super) fn members<'o, 'a>(value: &'o Value<'a>) -> &'o Object<'a> {
    value.as_object().unwrap_or(const { &Object::new() })
}

/// The object of this name; an empty one if it is missing.
#[inline(never)]
pub(super) fn inner<'o, 'a>(fields: &'o Object<'a>, name: &str) -> &'o Object<'a> {
    fields.object(name).unwrap_or(const { &Object::new() })
}

/// The first text that is not empty, of the fields with these names: `one, other`. Empty if there is none.
#[inline(never)]
pub(super) fn first_text<'o>(fields: &'o Object<'_>, names: &str) -> &'o str {
    Listed(names).map(|name| fields.text(name)).find(|text| !text.is_empty()).unwrap_or_default()
}

/// The names in a list: `one, other`.
pub(super) struct Listed<'t>(pub(super) &'t str);

impl<'t> Iterator for Listed<'t> {
    type Item = &'t str;

    #[inline(never)]
    fn next(&mut self) -> Option<&'t str> {
        let (name, others) = cut(self.0, b',');
        self.0 = others;
        (!name.is_empty()).then(|| name.trim_ascii_start())
    }
}

/// The number of this name, if it is whole and not negative.
#[inline(never)]
pub(super) fn number(fields: &Object<'_>, name: &str) -> Option<u64> {
    fields.get(name)?.as_u64()
}

/// The boolean of this name.
#[inline(never)]
pub(super) fn boolean(fields: &Object<'_>, name: &str) -> Option<bool> {
    fields.get(name)?.as_bool()
}
