//! A turn's input → messages (sections 3, 5 and 8).

use crate::error::{Error, ErrorCode, Result};
use crate::json::{Object, Value};
use crate::protocol::options::option_error;

use super::Aap;

/// The beginning of image data URIs.
const IMAGE_DATA: &str = "data:image/";

/// The messages for the items of a turn's input.
pub(super) fn messages<'a>(aap: Aap, params: &Object<'a>) -> Result<Vec<Value<'a>>> {
    let items = match params.get("input") {
        Some(Value::Array(items)) => items,
        None => return Err(invalid("a turn needs a message, or answers to the calls that wait")),
        Some(_) => return Err(option_error("input", " must be a list of items")),
    };
    if items.is_empty() {
        return Err(invalid("a turn needs a message, or answers to the calls that wait"));
    }
    items.iter().map(|item| message(aap, item).map(Value::Object)).collect()
}

fn message<'a>(aap: Aap, item: &Value<'a>) -> Result<Object<'a>> {
    let item = item.as_object().ok_or_else(|| invalid("an item must be an object with a `type`"))?;
    match item.text("type") {
        "user.message" => {
            let mut message = role("user");
            message.set("content", content(aap, item.get("content"))?);
            Ok(message)
        }
        "user.tool_response" => {
            let mut message = answer("tool", item)?;
            let content = item.get("content").filter(|content| content.is_string());
            let rule = "`content` of a tool response must be a text";
            message.set("content", content.ok_or_else(|| invalid(rule))?.clone());
            Ok(message)
        }
        "user.tool_approval" => {
            let approval = item.object("approval").unwrap_or(const { &Object::new() });
            let is_granted = match approval.text("status") {
                "allow" => true,
                "deny" => false,
                _ => return Err(invalid("`approval.status` must be `allow` or `deny`")),
            };
            let mut message = answer("tool_permission", item)?;
            message.set("granted", is_granted.into());
            let reason = approval.text("reason");
            if !reason.is_empty() {
                message.set("reason", reason.to_owned().into());
            }
            Ok(message)
        }
        _ => Err(invalid("`type` must be `user.message`, `user.tool_approval` or `user.tool_response`")),
    }
}

fn role<'a>(role: &'static str) -> Object<'a> {
    let mut message = Object::new();
    message.set("role", role.into());
    message
}

fn answer<'a>(name: &'static str, item: &Object<'_>) -> Result<Object<'a>> {
    let call_id = item.text("tool_call_id");
    if call_id.is_empty() {
        return Err(invalid("`tool_call_id` must name the call that waits"));
    }
    let mut message = role(name);
    message.set("toolCallId", call_id.to_owned().into());
    Ok(message)
}

/// A user's content: a single text is sent as a string.
fn content<'a>(aap: Aap, content: Option<&Value<'a>>) -> Result<Value<'a>> {
    let parts = match content {
        Some(Value::String(text)) => return Ok(Value::String(text.clone())),
        Some(Value::Array(parts)) => parts,
        _ => return Err(invalid("`content` must be a text or a list of parts")),
    };
    let mut blocks = parts.iter().map(|part| block(aap, part)).collect::<Result<Vec<_>>>()?;
    match &mut *blocks {
        [Value::Object(only)] if only.text("type") == "text" => Ok(only.remove("text").unwrap_or_default()),
        _ => Ok(blocks.into()),
    }
}

fn block<'a>(aap: Aap, part: &Value<'a>) -> Result<Value<'a>> {
    let part = part.as_object().ok_or_else(|| invalid("a part must be an object with a `type`"))?;
    match part.text("type") {
        "text" => {
            let text = part.get("text").filter(|text| text.is_string());
            let mut block = Object::new();
            block.set("type", "text".into());
            block.set("text", text.ok_or_else(|| invalid("a text part must have a `text`"))?.clone());
            Ok(block.into())
        }
        "file" => {
            let data = part.text("data");
            if begins_with(data, IMAGE_DATA) {
                return image(aap, data);
            }
            Err(invalid("of files, this protocol takes images only: `data:image/…`"))
        }
        "image" => image(aap, part.text("url")),
        _ => Err(invalid("this protocol takes texts and images only")),
    }
}

/// An image, if the agent accepts it in this form.
fn image<'a>(aap: Aap, url: &str) -> Result<Value<'a>> {
    let (is_taken, rule) = if begins_with(url, IMAGE_DATA) {
        (aap.data, "this agent takes no images as data URIs")
    } else if begins_with(url, "https:") {
        (aap.http, "this agent takes no images by address")
    } else {
        (false, "an image must be a data URI (`data:image/…`) or an `https:` address")
    };
    if !is_taken {
        return Err(invalid(rule));
    }
    let mut block = Object::new();
    block.set("type", "image".into());
    block.set("url", url.to_owned().into());
    Ok(block.into())
}

fn begins_with(text: &str, scheme: &str) -> bool {
    text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}

fn invalid(rule: &str) -> Error {
    Error::new(ErrorCode::InvalidInput, rule)
}
