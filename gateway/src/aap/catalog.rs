//! The agents of `/meta`, and what each of them declares. Every other name belongs to an
//! agent that can do everything, except `nope` and names that begin with `no-such`.

use serde_json::{Map, Value, json};

use super::wire::Mode;

/// What an agent can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // each is declared by itself
pub(super) struct Capabilities {
    pub(super) full: bool,
    pub(super) compacted: bool,
    /// `None` declares nothing about streams, which means `none` alone.
    streams: Option<&'static [Mode]>,
    pub(super) application_tools: bool,
    pub(super) images_http: bool,
    pub(super) images_data: bool,
}

/// All of it.
const EVERYTHING: Capabilities = Capabilities {
    full: true,
    compacted: true,
    streams: Some(&[Mode::Delta, Mode::Message, Mode::None]),
    application_tools: true,
    images_http: true,
    images_data: true,
};

/// Agents by name, with a title and a sentence.
const AGENTS: [(&str, &str, &str, Capabilities); 6] = [
    ("support-bot", "Support", "The support desk, which can do everything.", EVERYTHING),
    (
        "message-only",
        "Whole messages",
        "Streams whole messages, and nothing else.",
        Capabilities { streams: Some(&[Mode::Message]), ..EVERYTHING },
    ),
    (
        "none-only",
        "No stream",
        "Declares no stream mode, and so answers all at once.",
        Capabilities { streams: None, ..EVERYTHING },
    ),
    ("compacted-only", "Short memory", "Has no full history.", Capabilities { full: false, ..EVERYTHING }),
    (
        "forgetful",
        "No memory",
        "Has no history that can be read.",
        Capabilities { full: false, compacted: false, ..EVERYTHING },
    ),
    (
        "text-only",
        "Words alone",
        "Takes neither images nor tools of the application.",
        Capabilities { application_tools: false, images_http: false, images_data: false, ..EVERYTHING },
    ),
];

/// What an agent can do; `None` if there is no such agent.
pub(super) fn capabilities(agent: &str) -> Option<Capabilities> {
    if agent == "nope" || agent.starts_with("no-such") {
        return None;
    }
    let known = AGENTS.iter().find(|(name, ..)| *name == agent);
    Some(known.map_or(EVERYTHING, |(.., capabilities)| *capabilities))
}

impl Capabilities {
    pub(super) fn streams(&self, mode: Mode) -> bool {
        self.streams.map_or(mode == Mode::None, |modes| modes.contains(&mode))
    }

    /// As `/meta` shows them: what is present is supported.
    fn show(&self) -> Value {
        let mut shown = Map::new();
        let mut declare = |group: &str, names: Vec<(&str, bool)>| {
            let declared: Map<String, Value> = names
                .into_iter()
                .filter(|(_, declared)| *declared)
                .map(|(name, _)| (name.to_owned(), json!({})))
                .collect();
            if !declared.is_empty() {
                shown.insert(group.to_owned(), Value::Object(declared));
            }
        };
        declare("history", vec![("compacted", self.compacted), ("full", self.full)]);
        let modes = self.streams.unwrap_or_default();
        declare("stream", modes.iter().map(|mode| (mode.as_str(), true)).collect());
        declare("application", vec![("tools", self.application_tools)]);
        declare("image", vec![("http", self.images_http), ("data", self.images_data)]);
        Value::Object(shown)
    }
}

/// The option whose value cannot be read again.
const SECRET: &str = "apiKey";

/// Whether an option's value is masked.
pub(super) fn is_secret(option: &str) -> bool {
    option == SECRET
}

fn options() -> Value {
    json!([
        {
            "name": "model",
            "title": "Model",
            "description": "Which model is asked; all of them are scripted.",
            "type": "text",
            "default": "scripted-1",
        },
        {"name": SECRET, "title": "API key", "type": "secret", "default": ""},
        {
            "name": "language",
            "title": "Language",
            "type": "select",
            "options": ["English", "Japanese"],
            "default": "English",
        },
    ])
}

/// A tool of the server: its name, title, what it does, and its parameters with their types.
type Tool = (&'static str, &'static str, &'static str, &'static [(&'static str, &'static str)]);

/// The server tools that a session can switch on, as the scripts call them.
const TOOLS: [Tool; 9] = [
    ("list_services", "List services", "Lists the services of an account.", &[("account", "string")]),
    ("get_invoice", "Get an invoice", "Gets the invoice of a month.", &[("month", "string")]),
    ("get_service", "Look at a service", "Tells how a service is doing.", &[("service", "string")]),
    (
        "read_log",
        "Read a log",
        "Reads the last lines of a service's log.",
        &[("service", "string"), ("lines", "integer")],
    ),
    (
        "measure_latency",
        "Measure",
        "Measures answer times from a city.",
        &[("city", "string"), ("resolution_minutes", "integer"), ("metrics", "array")],
    ),
    (
        "restart_service",
        "Restart a service",
        "Restarts a service.",
        &[("service", "string"), ("reason", "string")],
    ),
    (
        "scale_service",
        "Scale a service",
        "Changes the number of instances.",
        &[("service", "string"), ("instances", "integer")],
    ),
    ("search_help", "Search", "Searches the pages of the help desk.", &[("query", "string")]),
    (
        "create_ticket",
        "File a ticket",
        "Files a ticket with the help desk.",
        &[("subject", "string"), ("priority", "string"), ("service", "string"), ("description", "string")],
    ),
];

fn tools() -> Vec<Value> {
    let tool = |(name, title, description, parameters): &Tool| {
        let properties: Map<String, Value> =
            parameters.iter().map(|(name, kind)| ((*name).to_owned(), json!({"type": kind}))).collect();
        let required: Vec<&str> = parameters.iter().map(|(name, _)| *name).collect();
        json!({
            "name": name,
            "title": title,
            "description": description,
            "parameters": {
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            },
        })
    };
    TOOLS.iter().map(tool).collect()
}

/// The answer of `GET /meta`.
pub(super) fn meta(version: u64) -> Value {
    let agent = |(name, title, description, capabilities): &(&str, &str, &str, Capabilities)| {
        json!({
            "name": name,
            "title": title,
            "version": "1.0.0",
            "description": description,
            "tools": tools(),
            "options": options(),
            "capabilities": capabilities.show(),
        })
    };
    json!({"version": version, "agents": AGENTS.iter().map(agent).collect::<Vec<_>>()})
}
