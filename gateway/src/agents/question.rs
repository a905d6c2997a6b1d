//! `question`: the agent asks the user to choose, and continues with the answer.

use serde_json::json;

use super::compose::{Message, Play, call_id};
use super::{MAIN, Prompt, Step, Steps, Tool};

/// The tool with which an agent asks its user.
pub(super) const ASK: Tool = Tool::System { name: "ask_user_question" };

pub(super) fn play(_: &Prompt) -> Steps {
    let ask = call_id();
    let message = Message::new(MAIN).text("I can set that up. One thing I need to know first.").call(
        &ask,
        ASK,
        &json!({
            "question": "Where should the new site run?",
            "options": ["Amsterdam (Recommended)", "Virginia", "Singapore"],
        }),
    );
    Play::open()
        .message(message)
        .step(Step::AwaitResponse { thread: MAIN.to_owned(), calls: vec![ask.clone()] })
        .pause(move |answers| {
            let place = answers.response(&ask).replace(" (Recommended)", "");
            Play::open()
                .say(&format!(
                    "**{place}** it is. The site will be ready in about a minute; you can upload \
                     your files as soon as its address answers."
                ))
                .done()
        })
}
