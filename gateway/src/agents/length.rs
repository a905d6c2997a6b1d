//! `length`: the model reaches its limit of tokens.

use super::compose::{Message, Play};
use super::step::FinishReason;
use super::{MAIN, Prompt, Steps};

pub(super) fn play(_: &Prompt) -> Steps {
    let message = Message::new(MAIN)
        .text(
            "There are many things to say about caching, and I intend to say all of them. First, \
             what a cache is. Second, what it is not. Third,",
        )
        .reason(FinishReason::Length);
    Play::open().message(message).fail("max_tokens breached")
}
