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
    let mut sent = Object::new();
    match part.text("type") {
        "text" => {
            sent.set("type", "text".into());
            sent.set("text", part.text("text").to_owned().into());
        }
        "file" => {
            let (kind, source) = source(part.text("data"), "")?;
            sent.set("type", kind.into());
            sent.set("source", source.into());
            let name = part.text("name");
            if !name.is_empty() {
                let mut metadata = Object::new();
                metadata.set("filename", name.to_owned().into());
                sent.set("metadata", metadata.into());
            }
        }
        "image" => {
            let (kind, source) = source(part.text("url"), "image")?;
            sent.set("type", kind.into());
            sent.set("source", source.into());
        }
        _ => return Err(invalid("this protocol takes texts, files and images")),
    }
    Ok(sent.into())
}

/// A source, and the type of the part that has it: `known`, or what the media type says.
fn source(url: &str, known: &'static str) -> Result<(&'static str, Object<'static>)> {
    let mut source = Object::new();
    if !url.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:")) {
        if known.is_empty() {
            return Err(invalid("a file must be a data URI"));
        }
        source.set("type", "url".into());
        source.set("value", url.to_owned().into());
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
    source.set("type", "data".into());
    source.set("value", data.to_owned().into());
    source.set("mimeType", media_type.to_owned().into());
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

fn read_part(part: &Object<'_>) -> Value<'static> {
    let Some(source) = part.object("source") else {
        let mut read = with_text("type", "text");
        put(&mut read, "text", part.text("text"));
        return read.into();
    };
    if source.text("type") != "data" {
        let mut read = with_text("type", "image");
        put(&mut read, "url", source.text("value"));
        return read.into();
    }
    let mut read = with_text("type", "file");
    put(&mut read, "name", part.object("metadata").map_or("", |metadata| metadata.text("filename")));
    put(&mut read, "data", &sentence(&["data:", source.text("mimeType"), ";base64,", source.text("value")]));
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
