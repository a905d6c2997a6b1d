//! The capabilities that a turn asks for: skills, tool servers, single tools; and which of them are rejected.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::agents::exists;

/// A capability that a turn asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Capability {
    id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Kind {
    Skill { slug: String, source_kind: String },
    McpServer { name: String, scope_kind: Scope },
    McpTool { server_name: String, raw_tool_name: String, scope_kind: Scope },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Scope {
    Workspace,
    User,
}

/// A rejected capability.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Rejected {
    #[serde(flatten)]
    capability: Capability,
    reason: &'static str,
    message: &'static str,
}

/// Reasons and their messages. A name that begins with a reason, such as
/// `security-blocked-thing`, is rejected for it.
const REASONS: [(&str, &str); 12] = [
    ("invalid_input", "it has no name"),
    ("duplicate", "it was asked for twice"),
    ("not_found", "there is no such skill"),
    ("disabled_by_policy", "the workspace has switched it off"),
    ("validation_rejected", "its description is not valid"),
    ("security_blocked", "it is not safe"),
    ("dependency_missing", "something that it needs is missing"),
    ("unavailable", "it does not answer"),
    ("catalog_missing", "the server is not in the catalog"),
    ("tool_missing", "tool is not in the catalog"),
    ("provider_unsupported", "the model's provider cannot use it"),
    ("materialization_failed", "it could not be set up"),
];

/// A tool that its server does not have.
const MISSING_TOOL: (&str, &str) = ("resend", "send_email");

impl Capability {
    /// The last part of its name.
    fn name(&self) -> &str {
        let name = match &self.kind {
            Kind::Skill { slug, .. } => slug,
            Kind::McpServer { name, .. } => name,
            Kind::McpTool { raw_tool_name, .. } => raw_tool_name,
        };
        name.rsplit('/').next().unwrap_or_default()
    }

    fn label(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.id)
    }

    /// Why it is rejected. A capability exists if an agent of its name would.
    fn reason(&self, before: &[Self]) -> Option<&'static str> {
        let name = self.name();
        if self.id.is_empty() || name.is_empty() {
            return Some("invalid_input");
        }
        if before.iter().any(|other| other.id == self.id || other.kind == self.kind) {
            return Some("duplicate");
        }
        let words = name.replace('-', "_");
        if let Some((reason, _)) = REASONS.iter().find(|(reason, _)| words.starts_with(reason)) {
            return Some(reason);
        }
        let is_missing = !exists(name);
        match &self.kind {
            Kind::Skill { .. } if is_missing => Some("not_found"),
            Kind::McpServer { .. } if is_missing => Some("catalog_missing"),
            Kind::McpTool { .. } if is_missing => Some("tool_missing"),
            Kind::McpTool { server_name, raw_tool_name, .. } => {
                ((server_name.as_str(), raw_tool_name.as_str()) == MISSING_TOOL).then_some("tool_missing")
            }
            Kind::Skill { .. } | Kind::McpServer { .. } => None,
        }
    }

    /// The chip on the user's message.
    pub(super) fn chip(&self) -> Value {
        let mut details = json!(self.kind);
        let kind = details.as_object_mut().and_then(|details| details.remove("type"));
        details["id"] = json!(self.id);
        details["label"] = json!(self.label());
        json!({"type": kind, "capability": details})
    }
}

/// The rejected ones among these capabilities.
pub(super) fn rejected(wanted: &[Capability]) -> Vec<Rejected> {
    let rejected = wanted.iter().enumerate().filter_map(|(index, capability)| {
        let reason = capability.reason(&wanted[..index])?;
        let (reason, message) = REASONS.iter().find(|(known, _)| *known == reason)?;
        Some(Rejected { capability: capability.clone(), reason, message })
    });
    rejected.collect()
}

/// The event that reports them in the turn.
pub(super) fn event(id: &str, rejected: &[Rejected]) -> Value {
    let message = match rejected {
        [one] => format!("Capability `{}` was not attached: {}", one.capability.label(), one.message),
        all => format!("{} capabilities were not attached", all.len()),
    };
    json!({
        "type": "systemEvent",
        "id": id,
        "level": "warning",
        "message": message,
        "code": "capability.rejected",
        "details": {"rejected": rejected},
    })
}

/// The diagnostics that report them in the prompt's manifest.
pub(super) fn diagnostics(rejected: &[Rejected]) -> Vec<Value> {
    let diagnostic = |one: &Rejected| {
        let message = format!("Capability `{}` was rejected: {}", one.capability.label(), one.message);
        json!({"code": "capability_rejected", "message": message})
    };
    rejected.iter().map(diagnostic).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reasons(wanted: Value) -> Vec<&'static str> {
        let wanted: Vec<Capability> = serde_json::from_value(wanted).expect("capabilities");
        rejected(&wanted).iter().map(|one| one.reason).collect()
    }

    #[test]
    fn the_name_decides_why_a_capability_is_rejected() {
        for (reason, _) in REASONS {
            let slug = format!("workspace/{}-thing", reason.replace('_', "-"));
            let wanted = json!([{"id": "c", "kind": {"type": "skill", "slug": slug, "sourceKind": "user"}}]);
            assert_eq!(reasons(wanted), [reason]);
        }
        let tool = |server: &str, tool: &str| json!({"type": "mcpTool", "serverName": server, "rawToolName": tool, "scopeKind": "workspace"});
        let server = |name: &str| json!({"type": "mcpServer", "name": name, "scopeKind": "user"});
        assert_eq!(
            reasons(json!([
                {"id": "a", "kind": tool("browser", "open")},
                {"id": "b", "kind": tool("resend", "send_email")},
                {"id": "c", "kind": tool("browser", "no-such-tool")},
                {"id": "d", "kind": server("nope")},
                {"id": "e", "kind": server("console")},
                {"id": "e", "kind": server("helpdesk")},
                {"id": "f", "kind": server("console")},
                {"id": "", "kind": server("other")},
            ])),
            ["tool_missing", "tool_missing", "catalog_missing", "duplicate", "duplicate", "invalid_input"]
        );
    }
}
