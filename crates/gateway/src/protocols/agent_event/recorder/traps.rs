//! The traps of a run while it is recorded.

use serde_json::{Value, json};

use super::super::event::{
    ActivityDeltaData, ActivitySnapshotData, Event, InferenceComplete, StateDeltaData, StreamReset,
    TextDeltaData, ToolCallCancel, ToolCallDeltaData, ToolCallStart, typed,
};
use super::super::message::message_id;
use super::super::server::Dialect;
use super::super::traps::{ACTIVITY_DELTA, RETRY_STEP, STATE_DELTA, STREAM_RESET, TOOL_CANCEL, UNKNOWN_TYPE};
use super::Recorder;
use crate::agents::{MAIN, Step, Tool, call_id};

/// The tool that runs while another call waits.
const EXTRA_TOOL: &str = "watch_service";

impl Recorder {
    /// What happens after the first step has begun.
    pub(crate) fn apply_step_traps(&mut self) {
        let traps = self.wire.traps.clone();
        if traps.has(&UNKNOWN_TYPE) {
            let frame = self.unknown_frame();
            self.wire.send_raw(&frame);
        }
        if traps.has(&STATE_DELTA) {
            let path = self.state.put("visits", json!(1));
            self.wire.send(Event::StateDelta(StateDeltaData {
                delta: typed(&json!([{"op": "add", "path": path, "value": 1}])),
            }));
            let path = self.state.put("visits", json!(2));
            self.wire.send(Event::StateDelta(StateDeltaData {
                delta: typed(&json!([{"op": "replace", "path": path, "value": 2}])),
            }));
        }
        if traps.has(&ACTIVITY_DELTA) {
            let (id, kind) = (message_id(), "search".to_owned());
            let content = json!({"query": "memory", "found": 0});
            let (message_id, activity_type) = (id.clone(), kind.clone());
            self.wire.send(Event::ActivitySnapshot(ActivitySnapshotData {
                message_id,
                activity_type,
                content,
                replace: Some(true),
            }));
            let patch = typed(&json!([{"op": "replace", "path": "/found", "value": 3}]));
            self.wire.send(Event::ActivityDelta(ActivityDeltaData {
                message_id: id,
                activity_type: kind,
                patch,
            }));
        }
        if traps.has(&TOOL_CANCEL) && self.dialect() == Dialect::Awaken {
            let (id, name) = self.broken_call();
            self.wire.send(Event::ToolCallCancel(ToolCallCancel {
                id,
                name,
                reason: "connection reset".to_owned(),
            }));
        }
    }

    /// What happens after so many deltas of text.
    pub(crate) fn apply_text_traps(&mut self, deltas: u64) {
        if self.wire.traps.number(&RETRY_STEP) == Some(deltas) {
            if self.wire.traps.has_word(&RETRY_STEP) {
                self.broken_call();
            }
            self.wire.traps.take(&RETRY_STEP);
            self.retry_step();
        }
        if self.wire.traps.number(&STREAM_RESET) == Some(deltas) && self.dialect() == Dialect::Awaken {
            self.wire.traps.take(&STREAM_RESET);
            self.wire.send(Event::StreamReset(StreamReset { reason: "provider connection lost".to_owned() }));
            let said = self.drafts.on(MAIN).map(|(_, draft)| draft.text.clone());
            self.wire.send(Event::TextDelta(TextDeltaData { delta: said.unwrap_or_default() }));
        }
    }

    /// A call that no script made.
    pub(crate) fn extra_call(&mut self) {
        let Some((message, draft)) = self.drafts.on(MAIN) else {
            return;
        };
        let (index, tool) = (draft.calls.len(), Tool::System { name: EXTRA_TOOL });
        self.add(Step::BeginCall { message, index, call: call_id(), tool });
        self.add(Step::Arguments { message, index, text: json!({"service": "shop-web"}).to_string() });
    }

    /// A call that begins and never completes.
    fn broken_call(&mut self) -> (String, String) {
        let id = call_id();
        let name = "read_log".to_owned();
        self.wire.send(Event::ToolCallStart(ToolCallStart { id: id.clone(), name: name.clone() }));
        self.wire.send(Event::ToolCallDelta(ToolCallDeltaData {
            id: id.clone(),
            args_delta: "{\"service\":\"sh".to_owned(),
        }));
        (id, name)
    }

    fn unknown_frame(&self) -> Value {
        let sample = json!({"cpu": 0.25, "note": "of a later version"});
        match self.dialect() {
            Dialect::Tirea => json!({"type": "telemetry_sample", "run_id": self.run.id, "data": sample}),
            Dialect::Awaken => json!({"event_type": "telemetry_sample", "sample": sample}),
        }
    }

    /// A step that was broken off, as awaken ends it.
    pub(crate) fn close_step(&mut self) {
        let Some(draft) = self.drafts.end_on(MAIN) else {
            if self.round.is_some() {
                self.state.lifecycle("done", Some("cancelled"), &self.totals);
                self.snapshot();
                self.wire.send(Event::StepEnd);
            }
            return;
        };
        self.wire.send(Event::InferenceComplete(InferenceComplete {
            model: super::MODEL.to_owned(),
            usage: None,
            duration_ms: draft.own.milliseconds(),
        }));
        self.state.lifecycle("done", Some("cancelled"), &self.totals);
        self.snapshot();
        self.wire.send(Event::StepEnd);
    }
}
