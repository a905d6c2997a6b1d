//! `plain`: a short answer and nothing else.

use super::compose::Play;
use super::{Prompt, Steps};

const ANSWER: &str = "Here is a plain answer: no tools, no thinking, just text that arrives in \
small pieces.\n\nEach piece is one event with its own sequence number. If your connection drops \
halfway, the stream can be picked up after the last number you saw, and not a word is lost or \
said twice.";

pub(super) fn play(_: &Prompt) -> Steps {
    Play::open().say(ANSWER).done()
}
