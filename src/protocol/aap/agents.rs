//! A server's metadata → its agents (sections 1 and 3).

use crate::error::{Error, ErrorCode, Result, sentence};
use crate::json::{Object, Value};
use crate::protocol::body::{object, page, take_list, unexpected};

use super::terms;

/// The supported version of the protocol.
const VERSION: u64 = 3;

/// The agents, each with its capabilities as turnwire's terms.
pub(super) fn list(meta: Value<'_>) -> Result<Value<'_>> {
    let mut meta = object(meta)?;
    check_version(meta.get("version"))?;
    let agents = take_list(&mut meta, "agents")?.into_iter().map(agent);
    Ok(page(agents.collect::<Result<_>>()?, Value::Null))
}

fn agent(agent: Value<'_>) -> Result<Value<'_>> {
    let mut agent = object(agent)?;
    if agent.text("name").is_empty() {
        return Err(unexpected("an agent has no `name`"));
    }
    let terms = terms::of_agent(agent.object("capabilities").unwrap_or(const { &Object::new() }));
    for name in ["tools", "options"] {
        if agent.get(name).is_some_and(|list| list.as_array().is_none()) {
            return Err(unexpected(&sentence(&["the `", name, "` of an agent are not a list"])));
        }
    }
    agent.set("terms", terms.into());
    Ok(agent.into())
}

/// Only this field shows another version, and other versions have other paths.
fn check_version(version: Option<&Value<'_>>) -> Result<()> {
    const LONGEST: usize = 20;
    if version.and_then(Value::as_u64) == Some(VERSION) {
        return Ok(());
    }
    let said = version.and_then(|version| version.number_text().or_else(|| version.as_str()));
    let error = match said.filter(|said| said.len() <= LONGEST) {
        Some("3") => unexpected("the server gives its version as a text, `\"3\"`, and not as a number"),
        Some(said) => {
            let parts = [
                "the server speaks version ",
                said,
                " of the Agent Application Protocol; this client speaks 3",
            ];
            Error::of(ErrorCode::UnexpectedResponse, &parts)
        }
        None => unexpected(
            "the server does not say which version of the Agent Application Protocol it speaks; this client \
             speaks 3",
        ),
    };
    Err(error)
}
