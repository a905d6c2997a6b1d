//! JSON Patch (RFC 6902). A property test compares it with the `json-patch` crate, which would be a seventh of the module
//! with its own values.

use std::borrow::Cow;

use super::{MAX_DEPTH, Object, Value, is_same, parse_u64};
use crate::error::sentence;
use crate::text::cut;

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
    let bytes = pointer.as_bytes();
    let is_whole = matches!(bytes.first(), None | Some(b'/'));
    let mut depth = 0;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'/' => depth += 1,
            b'~' if !matches!(bytes.get(at + 1), Some(b'0' | b'1')) => return None,
            _ => {}
        }
    }
    // Patches must not build a document that is too deep to be read.
    (is_whole && depth <= MAX_DEPTH).then_some(pointer)
}

/// The value at a pointer.
fn at<'d>(document: &'d mut Value<'static>, pointer: &str) -> Option<&'d mut Value<'static>> {
    let mut place = document;
    let mut rest = pointer;
    while let Some(tokens) = rest.strip_prefix('/') {
        let (token, _) = cut(tokens, b'/');
        rest = tokens.get(token.len()..)?;
        place = match place {
            Value::Object(members) => members.get_mut(&unescaped(token))?,
            Value::Array(items) => items.get_mut(index(token)?)?,
            _ => return None,
        };
    }
    Some(place)
}

fn add(document: &mut Value<'static>, pointer: &str, value: Value<'static>) -> Option<()> {
    let Some((parent, last)) = last_cut(pointer) else {
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
    let (parent, last) = last_cut(pointer)?;
    match at(document, parent)? {
        Value::Object(members) => members.remove(&unescaped(last)),
        Value::Array(items) => {
            let place = index(last).filter(|place| *place < items.len())?;
            Some(items.remove(place))
        }
        _ => None,
    }
}

/// The pointer to what has the value, and the value's name in it; `None` for the whole document.
fn last_cut(pointer: &str) -> Option<(&str, &str)> {
    let at = pointer.bytes().rposition(|byte| byte == b'/')?;
    Some((pointer.get(..at)?, pointer.get(at + 1..)?))
}

/// A name between slashes, without its escapes.
fn unescaped(token: &str) -> Cow<'_, str> {
    let (first, mut rest) = cut(token, b'~');
    if first.len() == token.len() {
        return Cow::Borrowed(token);
    }
    let mut name = first.to_owned();
    loop {
        let (piece, others) = cut(rest, b'~');
        name.push(if piece.starts_with('1') { '/' } else { '~' });
        name.push_str(piece.get(1..).unwrap_or_default());
        if piece.len() == rest.len() {
            return Cow::Owned(name);
        }
        rest = others;
    }
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
