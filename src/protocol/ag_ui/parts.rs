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

/// A source, and the type of the part that has it: what the media type says, or `known` for an address.
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

/// Parts of version 0.x have their source in themselves (`binary`).
fn read_part(part: &Object<'_>) -> Value<'static> {
    let kind = part.text("type");
    let source = part.object("source").unwrap_or(part);
    let media_type = source.text("mimeType");
    let of_kind =
        |kind: &str| if source.text("type") == kind { source.text("value") } else { source.text(kind) };
    let [data, address] = ["data", "url"].map(of_kind);
    let is_image = kind == "image" || cut(media_type, b'/').0 == "image";
    // Only the server knows what a handle stands for.
    let handle = [address, of_kind("file"), source.text("id")].concat();
    let (kind, name, value) = if kind == "text" || data.is_empty() && handle.is_empty() {
        ("text", "text", part.text("text").to_owned())
    } else if !data.is_empty() {
        ("file", "data", sentence(&["data:", media_type, ";base64,", data]))
    } else if is_image && !address.is_empty() {
        ("image", "url", handle)
    } else {
        ("file", "data", handle)
    };
    let mut read = with_text("type", kind);
    if kind == "file" {
        let metadata = part.object("metadata").unwrap_or(part);
        put(&mut read, "name", metadata.text("filename"));
    }
    put(&mut read, name, &value);
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
