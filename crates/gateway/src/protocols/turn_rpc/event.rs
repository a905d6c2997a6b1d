//! Durable events: stored with a number, and sent as notifications. The two forms differ in the case of
//! their fields' names only.

use serde_json::{Map, Value, json};

use super::envelope::notification;

/// Every kind, by the type of its stored form, with the method of its notification.
const KINDS: [(&str, &str); 14] = [
    ("itemStarted", "item/started"),
    ("itemCompleted", "item/completed"),
    ("itemUpdated", "item/updated"),
    ("itemTimeoutDetected", "item/timeout_detected"),
    ("itemRecoveryOpened", "item/recovery_opened"),
    ("itemRecoveryAttached", "item/recovery_attached"),
    ("itemRetryScheduled", "item/retry_scheduled"),
    ("itemRetryAttemptStarted", "item/retry_attempt_started"),
    ("itemRecoverySucceeded", "item/recovery_succeeded"),
    ("itemRecoveryExhausted", "item/recovery_exhausted"),
    ("itemToolRetryScheduled", "item/tool/retry_scheduled"),
    ("itemToolRetryResolved", "item/tool/retry_resolved"),
    ("itemToolRetryExhausted", "item/tool/retry_exhausted"),
    ("turnToolLoopBudgetExceeded", "turn/tool_loop/budget_exceeded"),
];

/// What happened, by its fields in their stored form.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Event {
    kind: &'static str,
    fields: Map<String, Value>,
}

/// Where something happens.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) workspace: &'a str,
    pub(super) thread: &'a str,
    pub(super) turn: &'a str,
}

impl Place<'_> {
    /// The members that most notifications begin with.
    pub(super) fn base(self) -> Map<String, Value> {
        fields(json!({
            "workspace_id": self.workspace,
            "thread_id": self.thread,
            "turn_id": self.turn,
        }))
    }
}

/// An item, as far as recovery names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ItemRef {
    pub(super) id: String,
    pub(super) kind: &'static str,
}

impl Event {
    pub(super) fn started(item: &Value) -> Self {
        Self::of("itemStarted", json!({"item": item}))
    }

    pub(super) fn completed(item: &Value) -> Self {
        Self::of("itemCompleted", json!({"item": item}))
    }

    pub(super) fn updated(item: &Value) -> Self {
        Self::of("itemUpdated", json!({"item": item}))
    }

    /// A recovery event about an item.
    pub(super) fn about(kind: &'static str, item: &ItemRef, details: Value) -> Self {
        let mut event = Self::of(kind, details);
        event.fields.insert("itemId".to_owned(), json!(item.id));
        event.fields.insert("itemType".to_owned(), json!(item.kind));
        event
    }

    pub(super) fn budget_exceeded(details: Value) -> Self {
        Self::of("turnToolLoopBudgetExceeded", details)
    }

    fn of(kind: &'static str, details: Value) -> Self {
        Self { kind, fields: fields(details) }
    }

    /// The item, if the event is about a whole one.
    pub(super) fn item(&self) -> Option<&Value> {
        self.fields.get("item")
    }

    /// The stored form.
    pub(super) fn payload(&self, place: Place<'_>) -> Value {
        let mut payload = fields(json!({
            "type": self.kind,
            "workspaceId": place.workspace,
            "threadId": place.thread,
            "turnId": place.turn,
        }));
        payload.extend(self.fields.clone());
        Value::Object(payload)
    }

    /// The notification as it is written.
    pub(super) fn notification(&self, place: Place<'_>) -> String {
        let method = KINDS.iter().find(|(kind, _)| *kind == self.kind).map_or("", |(_, method)| method);
        let mut params = place.base();
        params.extend(self.fields.iter().map(|(name, value)| (snake(name), value.clone())));
        notification(method, params)
    }
}

fn fields(details: Value) -> Map<String, Value> {
    match details {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// `recoveryJobId` as `recovery_job_id`.
fn snake(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_say_the_same() {
        let item = ItemRef { id: "rs1".to_owned(), kind: "reasoning" };
        let event = Event::about(
            "itemRetryScheduled",
            &item,
            json!({"recoveryJobId": "rec_1", "attemptNumber": 2, "nextRunAtUnix": 7}),
        );
        let place = Place { workspace: "w", thread: "th", turn: "t" };
        assert_eq!(
            event.payload(place),
            json!({
                "type": "itemRetryScheduled", "workspaceId": "w", "threadId": "th", "turnId": "t",
                "itemId": "rs1", "itemType": "reasoning", "recoveryJobId": "rec_1", "attemptNumber": 2,
                "nextRunAtUnix": 7,
            })
        );
        let sent: Value = serde_json::from_str(&event.notification(place)).expect("JSON");
        assert_eq!(
            sent,
            json!({"jsonrpc": "2.0", "method": "item/retry_scheduled", "params": {
                "workspace_id": "w", "thread_id": "th", "turn_id": "t", "item_id": "rs1",
                "item_type": "reasoning", "recovery_job_id": "rec_1", "attempt_number": 2,
                "next_run_at_unix": 7,
            }})
        );
    }
}
