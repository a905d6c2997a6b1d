//! Progress of tools, as activities (`AgentEvent` protocol, tool progress).
//!
//! One dialect sends a frame for each field of a report, in alphabetical order, so that a report is
//! a row of mixtures of the old and the new; the other sends one frame for a report.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::event::{ActivitySnapshotData, Event};
use super::server::Dialect;
use crate::time::now_ms;

/// The activity of a tool that runs.
const TYPE: &str = "tool-call-progress";

/// How a tool that runs stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ToolStatus {
    Pending,
    Running,
    Done,
    Failed,
}

/// One report.
#[derive(Debug, Clone)]
pub(super) struct Report {
    pub(super) call: String,
    pub(super) tool: String,
    pub(super) status: ToolStatus,
    /// Steps of the tool, done and all.
    pub(super) done: u32,
    pub(super) all: u32,
    pub(super) message: String,
}

/// Where a call stands in the tree of runs.
#[derive(Debug, Clone)]
#[allow(clippy::struct_field_names)] // the names of the wire
pub(super) struct Lineage {
    pub(super) thread_id: String,
    pub(super) run_id: String,
    pub(super) parent_call_id: Option<String>,
    pub(super) parent_run_id: Option<String>,
}

/// The activities of one run.
#[derive(Debug, Default)]
pub(super) struct Activities {
    contents: HashMap<String, Map<String, Value>>,
    /// Whether nothing is reported.
    pub(super) quiet: bool,
}

impl Activities {
    /// The events of a report.
    pub(super) fn report(
        &mut self,
        dialect: Dialect,
        report: &Report,
        lineage: &Lineage,
        legacy: bool,
    ) -> Vec<Event> {
        if self.quiet {
            return Vec::new();
        }
        let fields = fields(report, lineage);
        if legacy {
            let content = json!({"progress": ratio(report), "total": 1.0, "message": report.message});
            return vec![snapshot(report.call.clone(), "progress", content)];
        }
        match dialect {
            Dialect::Awaken => {
                let left_out = ["loaded", "total", "type", "updated_at_ms"];
                let kept =
                    fields.into_iter().filter(|(name, value)| !value.is_null() && !left_out.contains(name));
                let content = kept.map(|(name, value)| (name.to_owned(), value)).collect();
                vec![snapshot(report.call.clone(), TYPE, Value::Object(content))]
            }
            Dialect::Tirea => {
                let id = format!("tool_call:{}", report.call);
                let content = self.contents.entry(id.clone()).or_default();
                let frames = fields.into_iter().map(|(name, value)| {
                    content.insert(name.to_owned(), value);
                    snapshot(id.clone(), TYPE, Value::Object(content.clone()))
                });
                frames.collect()
            }
        }
    }
}

fn snapshot(message_id: String, kind: &str, content: Value) -> Event {
    Event::ActivitySnapshot(ActivitySnapshotData {
        message_id,
        activity_type: kind.to_owned(),
        content,
        replace: Some(true),
    })
}

fn ratio(report: &Report) -> f64 {
    f64::from(report.done) / f64::from(report.all.max(1))
}

/// All fields of a report in alphabetical order.
fn fields(report: &Report, lineage: &Lineage) -> Vec<(&'static str, Value)> {
    let parent_node = match &lineage.parent_call_id {
        Some(call) => format!("tool_call:{call}"),
        None => format!("run:{}", lineage.run_id),
    };
    vec![
        ("call_id", json!(report.call)),
        ("loaded", json!(f64::from(report.done))),
        ("message", json!(report.message)),
        ("node_id", json!(format!("tool_call:{}", report.call))),
        ("parent_call_id", json!(lineage.parent_call_id)),
        ("parent_node_id", json!(parent_node)),
        ("parent_run_id", json!(lineage.parent_run_id)),
        ("progress", json!(ratio(report))),
        ("run_id", json!(lineage.run_id)),
        ("schema", json!("tool-call-progress.v1")),
        ("status", json!(report.status)),
        ("thread_id", json!(lineage.thread_id)),
        ("tool_name", json!(report.tool)),
        ("total", json!(f64::from(report.all))),
        ("type", json!(TYPE)),
        ("updated_at_ms", json!(now_ms())),
    ]
}
