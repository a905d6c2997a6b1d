//! Repeated attempts and their events: recovery of items, retries of tools, limits of the loop.

use serde_json::{Value, json};

use super::event::{Event, ItemRef};
use super::model_writer::ModelWriter;
use super::turn::{Job, now};
use crate::store::random_suffix;

/// How many seconds lie between an attempt and the next.
const BACKOFF: i64 = 2;

/// What happens to something that failed.
#[derive(Debug, Clone)]
pub(super) enum RecoveryEvent {
    /// A call does not answer in time. `TimeoutAttached` joins a recovery that already runs.
    Timeout(String),
    TimeoutAttached(String),
    /// An attempt begins.
    Attempt,
    /// It failed, and the next one is planned.
    Again(&'static str),
    Succeeded,
    Exhausted(String),
    /// The model must call the tool again.
    ToolRetry(String),
    ToolResolved(String),
    ToolExhausted(String),
    /// The model has used up its rounds.
    Budget,
}

/// The recoveries of a turn.
#[derive(Debug, Default)]
pub(super) struct Recovery {
    /// The latest job, which may have ended.
    job: Option<Job>,
    /// The error that the turn fails with.
    failure: Option<String>,
    episode: Option<String>,
    tool_attempt: u64,
}

impl Recovery {
    /// The error that the turn fails with, if a recovery has no attempts left.
    pub(super) fn take_failure(&mut self) -> Option<String> {
        self.failure.take()
    }

    /// A recovery begins.
    pub(super) fn open(&mut self, writer: &ModelWriter, item: ItemRef, trigger: &str, action: &str) {
        let job = Job { id: format!("rec_{}", random_suffix(17)), item, attempt: 1 };
        let details = json!({
            "recoveryJobId": job.id, "trigger": trigger, "action": action, "attemptNumber": job.attempt,
        });
        writer.out.record(Event::about("itemRecoveryOpened", &job.item, details));
        self.set(writer, Some(job));
    }

    /// The turn knows of a running job, since the job ends with the turn.
    fn set(&mut self, writer: &ModelWriter, job: Option<Job>) {
        writer.out.thread.change(&writer.out.turn, |record| record.job.clone_from(&job));
        if job.is_some() {
            self.job = job;
        }
    }

    pub(super) fn notify(&mut self, writer: &ModelWriter, news: RecoveryEvent) {
        match news {
            RecoveryEvent::Timeout(call) => {
                let Some(call) = writer.find(&call) else { return };
                let details = json!({"attemptNumber": 1, "reason": "idle_deadline_exceeded"});
                writer.out.record(Event::about("itemTimeoutDetected", &call.reference(), details));
                self.open(writer, call.reference(), "timeout", "retry_attempt");
            }
            RecoveryEvent::TimeoutAttached(call) => Self::attach(writer, &call),
            RecoveryEvent::Attempt => self.about_job(writer, "itemRetryAttemptStarted", json!({})),
            RecoveryEvent::Again(reason) => {
                if let Some(mut job) = self.job.take() {
                    job.attempt += 1;
                    self.set(writer, Some(job));
                }
                let next = now() / 1000 + BACKOFF;
                let details = json!({"nextRunAtUnix": next, "reason": reason});
                self.about_job(writer, "itemRetryScheduled", details);
                self.about_job(writer, "itemRetryAttemptStarted", json!({}));
            }
            RecoveryEvent::Succeeded => {
                self.about_job(writer, "itemRecoverySucceeded", json!({}));
                self.set(writer, None);
            }
            RecoveryEvent::Exhausted(error) => {
                let details = json!({"status": "exhausted", "errorMessage": error});
                self.about_job(writer, "itemRecoveryExhausted", details);
                self.set(writer, None);
                let item = self.job.as_ref().map_or("", |job| job.item.id.as_str());
                self.failure = Some(format!("recovery exhausted for item `{item}`: {error}"));
            }
            RecoveryEvent::ToolRetry(call) => {
                self.tool_attempt += 1;
                self.tool(
                    writer,
                    "itemToolRetryScheduled",
                    &call,
                    &json!({
                        "attemptNumber": self.tool_attempt + 1,
                        "errorClass": "timeout",
                        "retryHint": "retry with a smaller request",
                        "failureSignatureFingerprint": "sig_1",
                        "reason": "recoverable_tool_output",
                    }),
                );
            }
            RecoveryEvent::ToolResolved(call) => self.tool(
                writer,
                "itemToolRetryResolved",
                &call,
                &json!({
                    "attemptNumber": self.tool_attempt + 1,
                    "resolution": "succeeded",
                    "reason": "successful_tool_output",
                }),
            ),
            RecoveryEvent::ToolExhausted(call) => self.tool(
                writer,
                "itemToolRetryExhausted",
                &call,
                &json!({
                    "attemptNumber": self.tool_attempt + 1,
                    "errorClass": "timeout",
                    "exhaustionKind": "total_retry_rounds",
                    "failureSignatureFingerprint": "sig_1",
                    "reason": "the tool was called often enough",
                }),
            ),
            RecoveryEvent::Budget => writer.out.record(Event::budget_exceeded(json!({
                "limitKind": "agent_rounds",
                "limit": 8,
                "observed": 8,
                "action": "request_final_no_tools_round",
                "reason": "agent round limit reached",
            }))),
        }
    }

    /// A call takes too long while the round that made it is under repair.
    fn attach(writer: &ModelWriter, call: &str) {
        let Some(call) = writer.find(call) else { return };
        let Some(round) = &writer.latest else { return };
        let job = format!("rec_{}", random_suffix(17));
        let details = json!({"attemptNumber": 1, "reason": "idle_deadline_exceeded", "recoveryJobId": job});
        writer.out.record(Event::about("itemTimeoutDetected", &call.reference(), details));
        let details = json!({
            "recoveryJobId": job,
            "recoveryItemId": round.id,
            "recoveryItemType": round.kind,
            "trigger": "timeout",
            "action": "retry_attempt",
            "existingStatus": "active",
            "nextAttemptNumber": 2,
        });
        writer.out.record(Event::about("itemRecoveryAttached", &call.reference(), details));
    }

    fn about_job(&self, writer: &ModelWriter, kind: &'static str, mut details: Value) {
        let Some(job) = &self.job else { return };
        details["recoveryJobId"] = json!(job.id);
        details["attemptNumber"] = json!(job.attempt);
        writer.out.record(Event::about(kind, &job.item, details));
    }

    /// An event of a call that may have ended: its tool is the one that these scripts call.
    fn tool(&mut self, writer: &ModelWriter, kind: &'static str, call: &str, details: &Value) {
        let episode = self.episode.get_or_insert_with(|| format!("tool_retry_{}", random_suffix(8)));
        let item = ItemRef { id: call.to_owned(), kind: "dynamic_tool_call" };
        let mut details = details.clone();
        details["toolRetryEpisodeId"] = json!(episode);
        details["toolName"] = json!(RETRIED_TOOL);
        details["budgets"] = json!([{"kind": "episode", "used": self.tool_attempt, "limit": 3}]);
        writer.out.record(Event::about(kind, &item, details));
    }
}

/// The tool that fails in the scripts about retries.
pub(super) const RETRIED_TOOL: &str = "mcp_web_get";
