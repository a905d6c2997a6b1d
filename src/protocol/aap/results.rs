//! Results of calls, from streams and histories.

use crate::index::MAIN_THREAD;
use crate::json::{Object, Value};
use crate::protocol::fields::{Problem, event, put};

use super::blocks::text_of;
use super::ids::{self, Maker};

/// Checks the form of a result.
pub(super) fn check(content: &Value<'_>) -> Result<(), Problem> {
    let is_one = content.is_string() || content.as_array().is_some();
    if is_one { Ok(()) } else { Err("`content` is neither a string nor a list of blocks".to_owned()) }
}

/// The result of a call. Its content is a text or a list of blocks.
pub(super) fn response<'a>(turn_id: &str, maker: Maker, call_id: &str, content: &Value<'a>) -> Object<'a> {
    let mut response = said(turn_id, maker, call_id, text_of(content));
    if content.as_array().is_some() {
        response.set("parts", content.clone());
    }
    response
}

/// The result of a call with a text.
pub(super) fn said<'a>(turn_id: &str, maker: Maker, call_id: &str, text: String) -> Object<'a> {
    let mut response = event("tool.response", ids::result(turn_id, maker, call_id), MAIN_THREAD);
    put(&mut response, "tool_call_id", call_id);
    response.set("content", text.into());
    response
}
