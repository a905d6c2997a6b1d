//! `error`: the model's connection breaks in the middle of a word.

use super::compose::{Message, Play};
use super::{MAIN, Prompt, Steps};

pub(super) fn play(_: &Prompt) -> Steps {
    let message = Message::new(MAIN)
        .text("I have found the cause. The certificate of your shop expired this morning, and the renew");
    Play::open()
        .steps(message.unfinished())
        .fail("The model provider closed the connection (502 Bad Gateway)")
}
