//! The input of a turn → parts of a user's message (section 4).

use crate::error::{Error, ErrorCode, Result, sentence};
use crate::json::{Object, Value, write_u64};
use crate::protocol::fields::{joined, put, with_text};
use crate::protocol::options::option_error;
use crate::text::{cut, is_among};

use super::Dialect;
use super::fields::{Listed, objects};

/// The kinds of parts, each with its required and its optional members.
const GATEWAY: &str = "\
    text;text;textElements\n\
    image;url;\n\
    audio;url;\n\
    video;url;\n\
    localImage;path;\n\
    localFile;path;\n\
    localAudio;path;\n\
    localVideo;path;\n\
    artifact;artifactId;versionId\n\
    mention;name, path;\n\
";
const CODEX: &str = "\
    text;text;text_elements\n\
    image;url;detail\n\
    localImage;path;detail\n\
    audio;url;\n\
    localAudio;path;\n\
    skill;name, path;\n\
    mention;name, path;\n\
";

/// The required and the optional members of a kind of parts.
fn members_of(kinds: &'static str, kind: &str) -> Option<(&'static str, &'static str)> {
    let mut rest = kinds;
    while !rest.is_empty() {
        let (line, others) = cut(rest, b'\n');
        let (known, members) = cut(line, b';');
        if known == kind {
            return Some(cut(members, b';'));
        }
        rest = others;
    }
    None
}

/// The parts of all messages of an input.
pub(super) fn parts<'a>(dialect: Dialect, input: Option<&Value<'a>>) -> Result<Vec<Value<'a>>> {
    let items = match input {
        None => &[][..],
        Some(Value::Array(items)) => items,
        Some(_) => return Err(option_error("input", " must be a list of items")),
    };
    let mut parts = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let item = item.as_object().ok_or_else(|| invalid(&place(at), "an item must be an object"))?;
        if item.text("type") != "user.message" {
            let rule = match dialect {
                Dialect::Gateway => "this protocol takes user messages only",
                Dialect::Codex => "what waits is answered while the turn runs, by `turn.answer()`",
            };
            return Err(invalid(&place(at), rule));
        }
        match item.get("content") {
            Some(Value::String(text)) => {
                let mut part = with_text("type", "text");
                part.set("text", Value::String(text.clone()));
                parts.push(part.into());
            }
            Some(Value::Array(content)) => {
                for (number, part) in content.iter().enumerate() {
                    let part = native(dialect, part);
                    parts.push(part.map_err(|rule| invalid(&place_of_part(at, number), &rule))?);
                }
            }
            _ => return Err(invalid(&place(at), "`content` must be a string or a list of parts")),
        }
    }
    Ok(parts)
}

/// A part in the server's format.
fn native<'a>(dialect: Dialect, part: &Value<'a>) -> Result<Value<'a>, String> {
    let part = part.as_object().ok_or("a part must be an object with a `type`")?;
    let kind = part.text("type");
    if kind == "file" {
        check_fields(part, "name, data", "")?;
        return file(dialect, part.text("data"));
    }
    let kinds = if dialect == Dialect::Gateway { GATEWAY } else { CODEX };
    let (required, optional) = members_of(kinds, kind)
        .ok_or_else(|| sentence(&["this server takes no parts of type `", kind, "`"]))?;
    check_fields(part, required, optional)?;
    let mut own = with_text("type", kind);
    for name in Listed(required) {
        // Only a text may be empty.
        let value = part
            .get(name)
            .filter(|value| value.as_str().is_some_and(|text| !text.is_empty() || name == "text"));
        let value =
            value.ok_or_else(|| sentence(&["a part of type `", kind, "` must have a `", name, "`"]))?;
        own.set(name, value.clone());
    }
    for name in Listed(optional) {
        if let Some(value) = part.get(name).filter(|value| !value.is_null()) {
            own.set(name, value.clone());
        }
    }
    Ok(own.into())
}

/// Checks that a part has only its type and these fields.
fn check_fields(part: &Object<'_>, required: &str, optional: &str) -> Result<(), String> {
    let fields = sentence(&["type, ", required, if optional.is_empty() { "" } else { ", " }, optional]);
    match part.iter().find(|(name, _)| !is_among(name, &fields)) {
        Some((name, _)) => {
            Err(sentence(&["`", part.text("type"), "` takes no `", name, "`: it takes ", &fields]))
        }
        None => Ok(()),
    }
}

/// A file by the media type of its data URI. Other URLs do not say the type.
fn file<'a>(dialect: Dialect, url: &str) -> Result<Value<'a>, String> {
    let uri = url.strip_prefix("data:").unwrap_or_default();
    let kind = match [b'/', b';', b','].into_iter().fold(uri, |media, end| cut(media, end).0) {
        media @ ("image" | "audio" | "video") => media,
        _ => "file",
    };
    if dialect == Dialect::Codex && !matches!(kind, "image" | "audio") {
        return Err("this server accepts only image and audio files, as data URIs".to_owned());
    }
    let mut part = with_text("type", kind);
    put(&mut part, "url", url);
    Ok(part.into())
}

/// The name of an item in an error.
pub(super) fn place(at: usize) -> String {
    let mut place = "input[".to_owned();
    write_u64(&mut place, at as u64);
    place.push(']');
    place
}

fn place_of_part(at: usize, number: usize) -> String {
    let mut place = place(at);
    place.push_str(".content[");
    write_u64(&mut place, number as u64);
    place.push(']');
    place
}

fn invalid(place: &str, rule: &str) -> Error {
    Error::of(ErrorCode::InvalidInput, &[place, ": ", rule])
}

/// The input of a turn, from the user's message in the server's record (section 5).
pub(super) fn input_of<'a>(message: &Object<'a>) -> Value<'a> {
    let mut parts = Vec::new();
    if let Some(text) = message.get("text").filter(|text| text.is_string()) {
        let mut part = with_text("type", "text");
        part.set("text", text.clone());
        parts.push(part.into());
    }
    for name in ["content", "attachments"] {
        for kept in objects(message, name) {
            parts.extend(part_of(kept));
        }
    }
    let content = match &*parts {
        [Value::Object(only)] if only.text("type") == "text" => only.get("text").cloned().unwrap_or_default(),
        _ => parts.into(),
    };
    let mut item = with_text("type", "user.message");
    item.set("content", content);
    vec![item.into()].into()
}

/// The text of a user's message in the server's record.
pub(super) fn words(message: &Object<'_>) -> String {
    let mut texts = vec![message.text("text")];
    texts.extend(objects(message, "content").map(|part| part.text("text")));
    texts.retain(|text| !text.is_empty());
    joined(&texts, "\n")
}

/// A part as callers give it; `None` for other attachments, such as capabilities.
fn part_of<'a>(kept: &Object<'a>) -> Option<Value<'a>> {
    let (kind, url) = (kept.text("type"), kept.text("url"));
    let is_data = url.starts_with("data:");
    if kind == "file" || is_data && matches!(kind, "image" | "audio" | "video") {
        let mut part = with_text("type", "file");
        put(&mut part, "name", "");
        part.set("data", url.to_owned().into());
        return Some(part.into());
    }
    if kind == "artifact" {
        let artifact = kept.object("artifact").unwrap_or(kept);
        let mut part = with_text("type", kind);
        for (name, snake) in [("artifactId", "artifact_id"), ("versionId", "version_id")] {
            if let Some(id) = artifact.get(name).or_else(|| artifact.get(snake)) {
                part.set(name, id.clone());
            }
        }
        return Some(part.into());
    }
    let (required, _) = members_of(GATEWAY, kind).or_else(|| members_of(CODEX, kind))?;
    let mut part = with_text("type", kind);
    for name in Listed(required) {
        part.set(name, kept.get(name)?.clone());
    }
    Some(part.into())
}
