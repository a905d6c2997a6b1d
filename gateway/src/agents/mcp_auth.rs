//! `mcp-auth`: a tool server wants the user to sign in; the next turn continues without input.

use serde_json::json;

use super::compose::{CONSOLE, Message, Play, call_id};
use super::{MAIN, Prompt, Server, Step, Steps, Tool};

/// The server that asks for a sign-in.
pub(super) const CALENDAR: Server = Server { id: "mcp-calendar", name: "calendar" };

pub(super) fn play(_: &Prompt) -> Steps {
    Play::silent().step(Step::AwaitAuthorization { servers: vec![CALENDAR] }).pause(|_| authorized())
}

fn authorized() -> Steps {
    let list = call_id();
    let tool = Tool::Remote { server: CALENDAR, name: "list_events" };
    let events = json!([
        {"start": "09:30", "end": "10:00", "title": "Stand-up"},
        {"start": "14:00", "end": "15:00", "title": "Review of the sale"},
    ]);
    Play::silent()
        .step(Step::Connect { thread: MAIN.to_owned(), servers: vec![CONSOLE, CALENDAR] })
        .message(
            Message::new(MAIN).text("Thank you, your calendar is connected. Let me look at tomorrow.").call(
                &list,
                tool,
                &json!({"day": "tomorrow"}),
            ),
        )
        .result(25, &list, events.to_string())
        .say(
            "Tomorrow has two entries: the stand-up at 09:30, and the review of the sale at \
             14:00. The hours from **10:00 to 14:00** are free for the migration.",
        )
        .done()
}
