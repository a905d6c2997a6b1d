//! JSON Patch (RFC 6902). A property test compares it with the `json-patch` crate, which would be a seventh of the module
//! with its own values.

use std::borrow::Cow;

use super::{MAX_DEPTH, Object, Value, is_same, parse_u64};
use crate::error::sentence;

/// The most bytes that one patch may copy: as many as a frame may have. Otherwise a few copies of the document into
/// itself would fill all memory.
const MOST_COPIED: usize = 8 << 20;

/// Applies a patch. On an error, which says why it does not fit, the document may be partly changed.
pub(crate) fn patch(document: &mut Value<'static>, delta: &[Value<'_>]) -> Result<(), String> {
    let operations: Option<Vec<Operation<'_>>> = delta.iter().map(Operation::read).collect();
    let mut copied = 0;
    for operation in operations.ok_or("it is not a JSON Patch")? {
        if operation.kind == Kind::Copy {
            copied += at(document, operation.from).map_or(0, |source| weight(source));
            if copied > MOST_COPIED {
                return Err("a JSON Patch copies more than 8 MiB".to_owned());
            }
        }
        operation
            .apply(document)
            .ok_or_else(|| sentence(&["a JSON Patch fails at `", operation.path, "`"]))?;
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Add,
    Remove,
    Replace,
    Move,
    Copy,
    Test,
}

/// One operation, with valid pointers.
struct Operation<'p> {
    kind: Kind,
    path: &'p str,
    /// The source of the value for `move` and `copy`; else empty.
    from: &'p str,
    /// The value; `null` for operations without one.
    value: &'p Value<'p>,
}

impl<'p> Operation<'p> {
    fn read(operation: &'p Value<'_>) -> Option<Self> {
        let operation = operation.as_object()?;
        let kind = match operation.text("op") {
            "add" => Kind::Add,
            "remove" => Kind::Remove,
            "replace" => Kind::Replace,
            "move" => Kind::Move,
            "copy" => Kind::Copy,
            "test" => Kind::Test,
            _ => return None,
        };
        let from = if matches!(kind, Kind::Move | Kind::Copy) { pointer(operation, "from")? } else { "" };
        let value = match kind {
            Kind::Add | Kind::Replace | Kind::Test => operation.get("value")?,
            Kind::Remove | Kind::Move | Kind::Copy => &Value::Null,
        };
        Some(Self { kind, path: pointer(operation, "path")?, from, value })
    }

    /// Applies the operation. Returns `None` if it does not fit.
    fn apply(&self, document: &mut Value<'static>) -> Option<()> {
        match self.kind {
            Kind::Add => add(document, self.path, self.value.clone().into_owned()),
            Kind::Remove => remove(document, self.path).map(drop),
            Kind::Replace => {
                *at(document, self.path)? = self.value.clone().into_owned();
                Some(())
            }
            Kind::Move => {
                let inside = self.path.strip_prefix(self.from);
                if inside.is_some_and(|inside| inside.starts_with('/')) {
                    return None;
                }
                let moved = remove(document, self.from)?;
                add(document, self.path, moved)
            }
            Kind::Copy => {
                let copy = at(document, self.from)?.clone();
                add(document, self.path, copy)
            }
            Kind::Test => is_same(at(document, self.path)?, self.value).then_some(()),
        }
    }
}

/// A pointer (RFC 6901), if it is valid: empty, or names that each begin with a slash.
fn pointer<'p>(operation: &'p Object<'_>, name: &str) -> Option<&'p str> {
    let pointer = operation.get(name)?.as_str()?;
    let is_whole = pointer.is_empty() || pointer.starts_with('/');
    let is_escaped = pointer.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    // Patches must not build a document that is too deep to be read.
    let is_shallow = pointer.split('/').count() <= MAX_DEPTH as usize + 1;
    (is_whole && is_escaped && is_shallow).then_some(pointer)
}

/// The value at a pointer.
fn at<'d>(document: &'d mut Value<'static>, pointer: &str) -> Option<&'d mut Value<'static>> {
    pointer.split('/').skip(1).try_fold(document, |parent, token| match parent {
        Value::Object(members) => members.get_mut(&unescaped(token)),
        Value::Array(items) => items.get_mut(index(token)?),
        _ => None,
    })
}

fn add(document: &mut Value<'static>, pointer: &str, value: Value<'static>) -> Option<()> {
    let Some((parent, last)) = pointer.rsplit_once('/') else {
        *document = value;
        return Some(());
    };
    match at(document, parent)? {
        Value::Object(members) => {
            members.insert(unescaped(last).into_owned(), value);
        }
        Value::Array(items) => {
            let place = if last == "-" { items.len() } else { index(last)? };
            if place > items.len() {
                return None;
            }
            items.insert(place, value);
        }
        _ => return None,
    }
    Some(())
}

fn remove(document: &mut Value<'static>, pointer: &str) -> Option<Value<'static>> {
    let (parent, last) = pointer.rsplit_once('/')?;
    match at(document, parent)? {
        Value::Object(members) => members.remove(&unescaped(last)),
        Value::Array(items) => {
            let place = index(last).filter(|place| *place < items.len())?;
            Some(items.remove(place))
        }
        _ => None,
    }
}

/// A name between slashes, without its escapes.
fn unescaped(token: &str) -> Cow<'_, str> {
    let Some((first, rest)) = token.split_once('~') else { return Cow::Borrowed(token) };
    let mut name = first.to_owned();
    for piece in rest.split('~') {
        let is_slash = piece.starts_with('1');
        name.push(if is_slash { '/' } else { '~' });
        name.push_str(piece.get(1..).unwrap_or_default());
    }
    Cow::Owned(name)
}

/// An index of an array: digits without leading zeros.
fn index(token: &str) -> Option<usize> {
    if token.len() > 1 && token.starts_with('0') {
        return None;
    }
    usize::try_from(parse_u64(token.as_bytes())?).ok()
}

fn weight(value: &Value<'_>) -> usize {
    const NODE: usize = 32;
    NODE + match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(members) => members.iter().map(|(name, value)| name.len() + weight(value)).sum(),
    }
}
