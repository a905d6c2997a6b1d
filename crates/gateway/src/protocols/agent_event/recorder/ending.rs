//! The end of a run: its last event, and what stays on record.

use std::sync::Arc;

use serde_json::json;

use super::super::event::{AwakenRunFinish, Event, Termination};
use super::super::run::RunStatus;
use super::super::server::Dialect;
use super::Recorder;

impl Recorder {
    /// The last event, and what is on record of the run.
    pub(crate) fn finish(&mut self, termination: Termination) {
        if self.wire.is_broken() {
            return;
        }
        let (status, code, detail) = ending(&termination);
        let natural = termination == Termination::NaturalEnd;
        let shown = match code.as_str() {
            "input_required" => "suspended",
            code => code,
        };
        self.state.lifecycle(status.as_str(), Some(shown), &self.totals);
        let result = match self.dialect() {
            Dialect::Tirea => (natural && !self.totals.response.is_empty())
                .then(|| json!({"response": self.totals.response})),
            Dialect::Awaken if matches!(termination, Termination::Suspended | Termination::Error(_)) => None,
            Dialect::Awaken => {
                let response = if natural { self.totals.response.as_str() } else { "" };
                Some(json!({"response": response, "status": status.as_str(), "status_reason": code}))
            }
        };
        if self.dialect() == Dialect::Awaken && !matches!(termination, Termination::Error(_)) {
            self.snapshot();
        }
        self.checkpoint();
        if self.wire.is_broken() {
            return;
        }
        self.run.finish(status, Some(code), detail);
        {
            let mut record = self.run.record();
            record.input_tokens += self.totals.input_tokens;
            record.output_tokens += self.totals.output_tokens;
            record.output =
                (natural && !self.totals.response.is_empty()).then(|| self.totals.response.clone());
        }
        // The record can be read before the end is sent.
        self.release();
        self.wire.send(Event::RunFinish(AwakenRunFinish {
            thread_id: self.run.thread.clone(),
            run_id: self.run.id.clone(),
            identity: self.identity(),
            result,
            termination: termination.into(),
        }));
    }

    /// Nothing reaches the run any more; another one may begin.
    pub(crate) fn release(&self) {
        self.run.close();
        let mut content = self.thread.content();
        if content.runs.live.as_ref().is_some_and(|live| Arc::ptr_eq(live, &self.run)) {
            content.runs.live = None;
        }
    }
}

/// How a run stands after its last event, and why.
fn ending(termination: &Termination) -> (RunStatus, String, Option<String>) {
    match termination {
        Termination::NaturalEnd => (RunStatus::Done, "natural".to_owned(), None),
        Termination::Cancelled => (RunStatus::Done, "cancelled".to_owned(), None),
        Termination::Suspended => (RunStatus::Waiting, "input_required".to_owned(), None),
        Termination::Stopped { code, detail } => (RunStatus::Done, (*code).to_owned(), Some(detail.clone())),
        Termination::Error(message) => (RunStatus::Done, "error".to_owned(), Some(message.clone())),
        Termination::QuotaExhausted { .. } => (RunStatus::Done, "quota_exhausted".to_owned(), None),
    }
}
