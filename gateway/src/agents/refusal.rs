//! `refusal`: the model will not answer. With `refusal late` it has begun to.

use super::compose::{Message, Play};
use super::step::FinishReason;
use super::{MAIN, Prompt, Steps};

pub(super) fn play(prompt: &Prompt) -> Steps {
    let late = prompt.text.split_whitespace().nth(1) == Some("late");
    let text = if late { "To open a door without its key you first" } else { "" };
    Play::open().message(Message::new(MAIN).text(text).reason(FinishReason::Refusal)).done()
}
