//! The agents of `/meta`, and what each of them declares. Every other name belongs to an
//! agent that can do everything, except `nope` and names that begin with `no-such`.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::wire::Mode;
use crate::agents::exists;

/// The agents, and the tools and options that all of them have.
static META: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("meta.json")).unwrap_or_default());

/// What an agent can do, as it declares it: groups of names, of which those that are present are supported.
#[derive(Debug, Clone, Copy)]
pub(super) struct Capabilities(&'static Value);

/// What an agent can do; `None` if there is no such agent.
pub(super) fn capabilities(agent: &str) -> Option<Capabilities> {
    if !exists(agent) {
        return None;
    }
    let agents = META["agents"].as_array()?;
    let known = agents.iter().find(|known| known["name"] == agent);
    Some(Capabilities(&known.or(agents.first())?["capabilities"]))
}

impl Capabilities {
    pub(super) fn streams(self, mode: Mode) -> bool {
        // A server that does not mention streams only answers without them.
        self.has("stream", mode.as_str()) || (self.0.get("stream").is_none() && mode == Mode::None)
    }

    /// Whether the agent declares a name in a group.
    pub(super) fn has(self, group: &str, name: &str) -> bool {
        self.0[group].get(name).is_some()
    }
}

/// Whether an option's value is masked.
pub(super) fn is_secret(option: &str) -> bool {
    let options = META["options"].as_array();
    options.into_iter().flatten().any(|known| known["name"] == option && known["type"] == "secret")
}

/// The answer of `GET /meta`.
pub(super) fn meta(version: u64) -> Value {
    let mut agents = META["agents"].clone();
    for agent in agents.as_array_mut().into_iter().flatten() {
        agent["tools"] = META["tools"].clone();
        agent["options"] = META["options"].clone();
    }
    json!({"version": version, "agents": agents})
}
