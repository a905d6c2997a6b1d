//! `turn/timeline`: a turn with everything that its tasks did, in chronological order.

use serde::Deserialize;
use serde_json::{Value, json};

use super::asked::Asked;
use super::envelope::Failure;
use super::event::Place;
use super::thread::Thread;
use super::turn::{Child, Record, Stored};
use super::workspace::WORKSPACE;

/// How many items of a child are shown if the request does not say.
const ITEMS_PER_CHILD: usize = 100;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wanted {
    thread_id: String,
    turn_id: String,
    #[serde(default = "yes")]
    compose_tasks: bool,
    #[serde(default)]
    include_collapsed_task_events: bool,
    max_child_items_per_task: Option<usize>,
}

fn yes() -> bool {
    true
}

/// An item with its sort key.
struct Item {
    occurred_at: i64,
    /// The turn's own come before those of its tasks, and these before what children did.
    rank: u8,
    sequence: u64,
    id: String,
    origin: Value,
    payload: Value,
}

impl Item {
    /// A durable event of a turn.
    fn event(stored: &Stored, rank: u8, prefix: &str, mut origin: Value, place: Place<'_>) -> Self {
        let item = stored.event.item().and_then(|item| item.get("id")?.as_str());
        if let Some(item) = item {
            origin["originTurnItemId"] = json!(item);
        }
        Self {
            occurred_at: stored.occurred_at,
            rank,
            sequence: stored.sequence,
            id: format!("{prefix}:{}:{}", item.unwrap_or("turn"), stored.sequence),
            origin,
            payload: json!({"kind": "turn_item_event", "event": stored.show(place)}),
        }
    }

    fn show(self) -> Value {
        let mut origin = self.origin;
        origin["originSequence"] = json!(self.sequence);
        origin["occurredAt"] = json!(self.occurred_at);
        json!({"id": self.id, "origin": origin, "payload": self.payload})
    }
}

/// `turn/timeline`
pub(super) fn timeline(asked: &Asked<'_>) -> Result<Value, Failure> {
    let wanted: Wanted = asked.request.params()?;
    asked.required("threadId", &wanted.thread_id)?;
    asked.required("turnId", &wanted.turn_id)?;
    let thread = asked.app.own.find(&wanted.thread_id);
    let own = thread.and_then(|thread| {
        thread.change(&wanted.turn_id, |record| {
            (own(&thread, record, &wanted), record.children.clone(), record.last_sequence())
        })
    });
    let (mut items, children, last) = own.ok_or_else(|| Failure::refused("turn was not found"))?;
    for child in children.iter().filter(|_| wanted.compose_tasks) {
        items.extend(of_child(asked, child, wanted.max_child_items_per_task.unwrap_or(ITEMS_PER_CHILD)));
    }
    items.sort_by(|a, b| {
        (a.occurred_at, a.rank, a.sequence, &a.id).cmp(&(b.occurred_at, b.rank, b.sequence, &b.id))
    });
    Ok(json!({
        "threadId": wanted.thread_id,
        "workspaceId": WORKSPACE,
        "turnId": wanted.turn_id,
        "items": items.into_iter().map(Item::show).collect::<Vec<_>>(),
        "lastSequence": last,
    }))
}

/// What happened in the turn itself, and to its tasks.
fn own(thread: &Thread, record: &Record, wanted: &Wanted) -> Vec<Item> {
    let place = thread.place(&record.id);
    let origin = json!({"kind": "parent_turn", "lane": "parent"});
    let own = record.events.iter().map(|stored| Item::event(stored, 0, "parent", origin.clone(), place));
    let shown =
        |collapsed: bool| wanted.compose_tasks && (!collapsed || wanted.include_collapsed_task_events);
    let tasks = record.tasks.iter().filter(|news| shown(news.collapsed)).map(|news| Item {
        occurred_at: news.occurred_at,
        rank: 1,
        sequence: news.sequence,
        id: format!("task:{}:{}", news.task, news.sequence),
        origin: json!({"kind": "task_event", "lane": "task", "taskId": news.task, "runId": news.run}),
        payload: json!({"kind": "task_event", "event": news.event}),
    });
    own.chain(tasks).collect()
}

/// The latest that another thread's turn did for a task.
fn of_child(asked: &Asked<'_>, child: &Child, most: usize) -> Vec<Item> {
    let Some(thread) = asked.app.own.find(&child.thread) else { return Vec::new() };
    let place = thread.place(&child.turn);
    let prefix = format!("child:{}", child.turn);
    let item = |stored: &Stored| {
        let origin = json!({
            "kind": "child_turn",
            "lane": lane(stored),
            "taskId": child.task,
            "runId": child.run,
            "childThreadId": child.thread,
            "childTurnId": child.turn,
        });
        Item::event(stored, 2, &prefix, origin, place)
    };
    let items = thread.change(&child.turn, |record| {
        let skipped = record.events.len().saturating_sub(most);
        record.events.iter().skip(skipped).map(item).collect()
    });
    items.unwrap_or_default()
}

fn lane(stored: &Stored) -> &'static str {
    let kind = stored.event.item().and_then(|item| item.get("type")).and_then(Value::as_str);
    match kind {
        Some("reasoning") => "child_reasoning",
        Some("agentMessage" | "userMessage" | "systemEvent") | None => "child_agent",
        Some(_) => "child_tool",
    }
}
