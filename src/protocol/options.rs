//! What callers give, by its names here and on the wire, and what is said of it where it is wrong.

use crate::error::{Error, ErrorCode, Result};
use crate::json::{Object, Value};
use crate::text::is_among;

/// The parameters that say something, under their wire names.
pub(super) fn wire<'a>(params: &Object<'a>) -> Object<'a> {
    let mut wire = Object::new();
    for (name, value) in params.iter().filter(|(_, value)| !value.is_null()) {
        wire.insert(wire_name(name), value.clone());
    }
    wire
}

/// `pageToken` → `page_token`. Wire names stay as they are.
fn wire_name(name: &str) -> String {
    let mut wire = String::with_capacity(name.len() + 4);
    for character in name.chars() {
        if character.is_ascii_uppercase() {
            wire.push('_');
        }
        wire.push(character.to_ascii_lowercase());
    }
    wire
}

/// An error about the option of this wire name. `problem` goes on after the name.
pub(super) fn option_error(wire: &str, problem: &str) -> Error {
    let mut name = String::with_capacity(wire.len());
    let mut upper = false;
    for character in wire.chars() {
        if character == '_' {
            upper = true;
        } else {
            name.push(if upper { character.to_ascii_uppercase() } else { character });
            upper = false;
        }
    }
    Error::of(ErrorCode::InvalidOption, &["`", &name, "`", problem])
}

/// Whether this build has protocols of several families: what one of them takes in an input passes the check for all.
pub(super) const HAS_SEVERAL: bool = cfg!(any(
    all(feature = "truefoundry", any(feature = "agent-event", feature = "aap", feature = "turn-rpc")),
    all(feature = "agent-event", any(feature = "aap", feature = "turn-rpc")),
    all(feature = "aap", feature = "turn-rpc"),
));

/// Refuses what only protocols of other families take: other fields of an approval than these, and more in a text or an
/// image.
pub(super) fn check_item(item: &Object<'_>, approval: &str) -> Result<()> {
    if !HAS_SEVERAL {
        return Ok(());
    }
    if let Some(given) = item.object("approval") {
        demand_fields("approval", given, approval)?;
    }
    for part in item.array("content").iter().filter_map(Value::as_object) {
        match part.text("type") {
            "text" => demand_fields("text", part, "type, text")?,
            "image" => demand_fields("image", part, "type, url")?,
            _ => {}
        }
    }
    Ok(())
}

fn demand_fields(of: &str, object: &Object<'_>, fields: &str) -> Result<()> {
    match object.iter().find(|(name, _)| !is_among(name, fields)) {
        Some((name, _)) => {
            let problem = ["`", of, "` takes no `", name, "`: it takes ", fields];
            Err(Error::of(ErrorCode::InvalidInput, &problem))
        }
        None => Ok(()),
    }
}

/// What a protocol says to a call that it does not have.
pub(super) fn unsupported() -> Error {
    Error::new(ErrorCode::Unsupported, "this protocol has no such request")
}
