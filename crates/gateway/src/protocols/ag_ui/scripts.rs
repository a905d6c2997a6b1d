//! Scripts for what only this protocol has: state, activities, results in parts, custom events. All other words select
//! the scripts that all protocols share.

use std::time::Duration;

use serde_json::{Value, json};

use super::event::{CallEvent, Event, Frame, MessageEvent, StepEvent};
use super::input::RunInput;
use crate::agents::{self, FACTS, MAIN, Message, Play, Step, Steps, Tool, call_id};
use crate::turns::Cue;

/// The acts of a run, produced on demand.
pub(super) type Acts = Box<dyn Iterator<Item = Act> + Send>;

/// One thing that a scripted agent does.
#[derive(Debug)]
pub(super) enum Act {
    Step(Step),
    /// An event that no step corresponds to.
    Send(Frame),
}

impl From<Act> for Cue<Act> {
    fn from(act: Act) -> Self {
        match act {
            Act::Step(Step::Wait(beats)) => Self::Wait(beats),
            Act::Step(Step::End(ending)) => Self::End(ending),
            act => Self::Act(act),
        }
    }
}

impl Act {
    /// Whether it is visible on the wire, so that it counts for the pace of the run.
    pub(super) fn is_seen(&self) -> bool {
        match self {
            Self::Step(Step::Connect { .. } | Step::CreateSandbox { .. }) => false,
            Self::Step(step) => step.is_event(),
            Self::Send(_) => true,
        }
    }
}

/// The steps of a script that knows no protocol.
pub(super) fn steps(steps: Steps) -> Acts {
    Box::new(steps.map(Act::Step))
}

/// A script of this protocol: its word, and what it does.
type Script = (&'static str, fn(&RunInput) -> Vec<Act>);

const SCRIPTS: [Script; 6] = [
    ("state", state),
    ("activity", activity),
    ("parts", parts),
    ("custom", custom),
    ("roles", roles),
    ("input", input),
];

/// The script for a run, and its own pace.
pub(super) fn choose(run: &RunInput) -> (Acts, Option<Duration>) {
    let prompt = run.prompt(&FACTS);
    let word = prompt.first_word();
    if let Some((_, script)) = SCRIPTS.iter().find(|(name, _)| *name == word) {
        return (Box::new(script(run).into_iter()), None);
    }
    let script = agents::choose(&prompt);
    (steps((script.play)(&prompt)), script.beat)
}

fn send(event: impl Into<Event>) -> Act {
    Act::Send(Frame::from(event.into()))
}

fn say(text: &str) -> Vec<Act> {
    let steps = Play::silent().say(text).into_steps();
    steps.into_iter().map(Act::Step).collect()
}

fn acts(parts: impl IntoIterator<Item = Vec<Act>>) -> Vec<Act> {
    parts.into_iter().flatten().collect()
}

/// `state`: the state from the request, a snapshot, and patches with all six operations.
fn state(run: &RunInput) -> Vec<Act> {
    let came = run.state.as_ref().map_or_else(|| "no state".to_owned(), Value::to_string);
    let delta = |delta: Value| send(Event::StateDelta { delta });
    let changes = vec![
        send(Event::StateSnapshot {
            snapshot: json!({"orders": 2, "items": ["tea", "books"], "a/b~c": null, "deep": {"list": [[1], {}]}}),
        }),
        delta(json!([
            {"op": "replace", "path": "/orders", "value": 3},
            {"op": "add", "path": "/items/-", "value": "lamps"},
            {"op": "test", "path": "/orders", "value": 3},
        ])),
        delta(json!([
            {"op": "move", "from": "/items/0", "path": "/first"},
            {"op": "copy", "from": "/items/0", "path": "/deep/copied"},
            {"op": "remove", "path": "/a~1b~0c"},
        ])),
        delta(json!([])),
        delta(json!([{"op": "add", "path": "/deep/list/0/0", "value": 0.5}])),
    ];
    acts([
        say(&format!("Your page sent {came}. I will change it.")),
        changes,
        say("Now there are three orders."),
    ])
}

/// `activity`: a search with progress, and a plan that exists already.
fn activity(_: &RunInput) -> Vec<Act> {
    let (search, plan) = (uuid::Uuid::new_v4().to_string(), uuid::Uuid::new_v4().to_string());
    let snapshot = |id: &str, activity_type, content: Value, replace| {
        send(Event::ActivitySnapshot { message_id: id.to_owned(), activity_type, content, replace })
    };
    let delta = |id: &str, activity_type, patch: Value| {
        send(Event::ActivityDelta { message_id: id.to_owned(), activity_type, patch })
    };
    let steps = json!({"steps": [{"text": "Search", "done": false}, {"text": "Report", "done": false}]});
    let shown = vec![
        snapshot(&plan, "PLAN", steps, None),
        snapshot(&search, "SEARCH", json!({"query": "memory", "found": 0}), Some(true)),
        delta(&search, "SEARCH", json!([{"op": "replace", "path": "/found", "value": 3}])),
        delta(&plan, "PLAN", json!([{"op": "replace", "path": "/steps/0/done", "value": true}])),
        // It exists already, so this changes nothing.
        snapshot(&plan, "PLAN", json!({"steps": []}), Some(false)),
        snapshot(&search, "SEARCH", json!({"query": "memory", "found": 4, "done": true}), None),
    ];
    acts([shown, say("I found four pages about memory.")])
}

/// A picture of one red dot.
const DOT: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// `parts`: a tool whose result is made of parts.
fn parts(_: &RunInput) -> Vec<Act> {
    let call = call_id();
    let asks = Play::silent().message(Message::new(MAIN).text("I will take a picture.").call(
        &call,
        Tool::System { name: "take_picture" },
        &json!({"of": "dashboard"}),
    ));
    let content = json!([
        {"type": "text", "text": "The dashboard at 14:00."},
        {"type": "image", "source": {"type": "data", "value": DOT, "mimeType": "image/png"}},
        {"type": "document", "source": {"type": "url", "value": "https://example.com/report.pdf", "mimeType": "application/pdf"}},
        {"type": "audio", "source": {"type": "file", "value": "file-7", "provider": "scripted"}},
    ]);
    let message_id = uuid::Uuid::new_v4().to_string();
    let result = send(CallEvent::Result { message_id, tool_call_id: call, content, role: "tool" });
    let asks = asks.into_steps().into_iter().map(Act::Step).collect();
    acts([asks, vec![result], say("All lamps are green in the picture.")])
}

/// `custom`: steps that overlap, one of them twice, and events that only the application knows.
fn custom(_: &RunInput) -> Vec<Act> {
    let started = |step_name| send(StepEvent::Started { step_name });
    let finished = |step_name| send(StepEvent::Finished { step_name });
    acts([
        vec![
            started("plan"),
            started("search"),
            send(Event::Custom { name: "progress", value: json!({"percent": 40}) }),
            finished("plan"),
            send(Event::Raw { event: json!({"native": [1, null]}), source: "scripted" }),
            send(Event::Custom { name: "nothing", value: Value::Null }),
            finished("search"),
            started("plan"),
        ],
        say("The plan has changed once."),
        vec![finished("plan")],
    ])
}

/// `roles`: texts that are not the assistant's, and one with a name.
fn roles(_: &RunInput) -> Vec<Act> {
    let text = |role, name, text: &str| {
        let id = uuid::Uuid::new_v4().to_string();
        vec![
            send(MessageEvent::Start { message_id: id.clone(), role, name }),
            send(MessageEvent::Content { message_id: id.clone(), delta: text.to_owned() }),
            send(MessageEvent::End { message_id: id }),
        ]
    };
    acts([
        text("system", None, "Answer briefly."),
        text("developer", None, "The shop is in Lisbon."),
        text("user", Some("Ada"), "Is it open?"),
        text("assistant", Some("Wren"), "Yes, until six."),
    ])
}

/// `input`: says what the request had besides the messages.
fn input(run: &RunInput) -> Vec<Act> {
    let came =
        run.body.iter().filter(|(name, _)| !["messages", "threadId", "runId"].contains(&name.as_str()));
    let came: serde_json::Map<String, Value> =
        came.map(|(name, value)| (name.clone(), value.clone())).collect();
    say(&format!("Beside the messages your page sent this:\n\n```json\n{}\n```", Value::Object(came)))
}
