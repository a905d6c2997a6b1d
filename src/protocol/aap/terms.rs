//! Terms: an agent's capabilities, and the settings of its session (section 3). Each call has them as parameters, since
//! the server does not repeat them.

use crate::json::{Object, Value};

use super::Aap;

/// The history that a server keeps for its clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum History {
    /// All messages.
    Full,
    /// What the agent remembers: anything may be missing or rephrased.
    Compacted,
}

impl History {
    /// The word on the wire.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Compacted => "compacted",
        }
    }
}

/// How a turn is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// As a stream of deltas.
    Delta,
    /// As a stream of messages.
    Message,
    /// As a whole.
    None,
}

impl Mode {
    /// The word on the wire.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Delta => "delta",
            Self::Message => "message",
            Self::None => "none",
        }
    }
}

impl Aap {
    /// The protocol with a session's terms. Missing terms are as in [`Aap::new`].
    #[must_use]
    pub fn of_terms(terms: &Object<'_>) -> Self {
        let before = Self::new();
        let images = |kind: &str| terms.array("images").iter().any(|image| image.as_str() == Some(kind));
        Self {
            history: match (terms.get("history"), terms.text("history")) {
                (_, "full") => Some(History::Full),
                (_, "compacted") => Some(History::Compacted),
                (None, _) => before.history,
                _ => None,
            },
            mode: match (terms.get("stream"), terms.text("stream")) {
                (_, "message") => Mode::Message,
                (_, "delta") | (None, _) => Mode::Delta,
                // Without a known way to stream, the answer comes as a whole.
                _ => Mode::None,
            },
            data: images("data"),
            http: images("http"),
        }
    }

    /// The protocol with the terms in a call's parameters, if there are any.
    pub(super) fn with(self, params: &Object<'_>) -> Self {
        params.object("terms").map_or(self, Self::of_terms)
    }
}

/// The terms for an agent with these capabilities.
pub(super) fn of_agent(capabilities: &Object<'_>) -> Object<'static> {
    let declares = |of: &str, name: &str| {
        let value = capabilities.object(of).and_then(|declared| declared.get(name));
        value.is_some_and(|value| !value.is_null() && value.as_bool() != Some(false))
    };
    let kinds = |of: &str, names: &[&'static str]| -> Vec<_> {
        names.iter().copied().filter(|name| declares(of, name)).collect()
    };
    let mut terms = Object::new();
    terms.set(
        "history",
        kinds("history", &["full", "compacted"]).first().copied().map_or(Value::Null, Value::from),
    );
    let mut modes = kinds("stream", &["delta", "message", "none"]);
    if modes.is_empty() {
        // Every agent can answer without a stream.
        modes.push("none");
    }
    terms.set("stream", modes.first().copied().unwrap_or_default().into());
    terms.set("modes", modes.into_iter().map(Value::from).collect::<Vec<_>>().into());
    let images = ["data", "http"].into_iter().filter(|kind| declares("image", kind));
    terms.set("images", images.map(Value::from).collect::<Vec<_>>().into());
    terms
}

/// The names of the client's own tools.
pub(super) fn own_tools(params: &Object<'_>) -> Vec<String> {
    names(params, "tools")
}

/// The names of the server's tools that run without asking.
pub(super) fn trusted(params: &Object<'_>) -> Vec<String> {
    names(params, "trusted")
}

fn names(params: &Object<'_>, of: &str) -> Vec<String> {
    let tools = params.object("terms").map(|terms| terms.array(of)).unwrap_or_default();
    tools.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}
