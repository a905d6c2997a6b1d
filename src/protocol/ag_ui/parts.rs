//! Parts of a user's message → parts of the wire, and back (section 2).

use crate::error::{Error, ErrorCode, Result, sentence};
use crate::json::{Object, Value};
use crate::protocol::fields::{put, with_text};
use crate::text::cut;

/// A user's content: a text, or parts.
pub(super) fn content(content: Option<&Value<'_>>) -> Result<Value<'static>> {
    match content {
        Some(Value::String(text)) => Ok(Value::String(text.clone().into_owned())),
        Some(Value::Array(parts)) => parts.iter().map(part).collect::<Result<Vec<_>>>().map(Value::from),
        _ => Err(invalid("`content` must be a string or a list of parts")),
    }
}

fn part(part: &Value<'_>) -> Result<Value<'static>> {
    let part = part.as_object().ok_or_else(|| invalid("a part must be an object with a `type`"))?;
    let is_file = match part.text("type") {
        "text" => {
            let mut sent = with_text("type", "text");
            put(&mut sent, "text", part.text("text"));
            return Ok(sent.into());
        }
        "file" => true,
        "image" => false,
        _ => return Err(invalid("this protocol takes texts, files and images")),
    };
    let (kind, source) =
        if is_file { source(part.text("data"), "document")? } else { source(part.text("url"), "image")? };
    let mut sent = with_text("type", kind);
    sent.set("source", source.into());
    let name = part.text("name");
    if is_file && !name.is_empty() {
        sent.set("metadata", with_text("filename", name).into());
    }
    Ok(sent.into())
}

/// A source, and the type of the part that contains it: the media type's, or `known` for a URL.
fn source(url: &str, known: &'static str) -> Result<(&'static str, Object<'static>)> {
    let mut source = Object::new();
    if !url.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:")) {
        put(&mut source, "type", "url");
        put(&mut source, "value", url);
        return Ok((known, source));
    }
    let (head, data) = cut(url.get(5..).unwrap_or_default(), b',');
    let Some(media_type) = head.strip_suffix(";base64") else {
        return Err(invalid("a data URI must have its data in base64"));
    };
    let kind = match cut(media_type, b'/').0 {
        "image" => "image",
        "audio" => "audio",
        "video" => "video",
        _ => "document",
    };
    for (name, text) in [("type", "data"), ("value", data), ("mimeType", media_type)] {
        put(&mut source, name, text);
    }
    Ok((kind, source))
}

/// A user's content on the wire → the content of an input.
pub(super) fn read_content(content: Option<&Value<'_>>) -> Value<'static> {
    match content {
        Some(Value::Array(parts)) => {
            let parts = parts.iter().filter_map(Value::as_object).map(read_part);
            parts.collect::<Vec<_>>().into()
        }
        content => text_of(content).into(),
    }
}

/// A part of version 0.x contains its source directly (`binary`), under the name of its kind.
fn read_part(part: &Object<'_>) -> Value<'static> {
    let source = part.object("source").unwrap_or(part);
    let (mut kind, mut value) = (source.text("type"), source.text("value"));
    for name in ["data", "url", "id"] {
        if value.is_empty() {
            (kind, value) = (name, source.text(name));
        }
    }
    let media_type = source.text("mimeType");
    let is_image = part.text("type") == "image" || cut(media_type, b'/').0 == "image";
    let (of, name) = match kind {
        _ if value.is_empty() || part.text("type") == "text" => ("text", "text"),
        "url" if is_image => ("image", "url"),
        _ => ("file", "data"),
    };
    let mut read = with_text("type", of);
    if of == "file" {
        put(&mut read, "name", part.object("metadata").unwrap_or(part).text("filename"));
    }
    if of == "text" {
        value = part.text("text");
    }
    // Only the server knows what a handle refers to.
    let is_data = of == "file" && kind == "data";
    let head = if is_data { ["data:", media_type, ";base64,"] } else { [""; 3] };
    put(&mut read, name, &sentence(&[head[0], head[1], head[2], value]));
    read.into()
}

/// The text of a content: a text, or parts.
pub(super) fn text_of(content: Option<&Value<'_>>) -> String {
    let mut said = String::new();
    match content {
        Some(Value::String(text)) => said.push_str(text),
        Some(Value::Array(parts)) => {
            for part in parts.iter().filter_map(Value::as_object) {
                said.push_str(part.text("text"));
            }
        }
        _ => {}
    }
    said
}

pub(super) fn invalid(rule: &str) -> Error {
    Error::new(ErrorCode::InvalidInput, rule)
}
