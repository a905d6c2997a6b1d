//! `slow`: a word a second, so that there is time to stop it or to lose the connection.

use super::compose::Play;
use super::{Prompt, Steps};

const ANSWER: &str = "One word every second. Long enough to press stop, to pull the plug, or to \
reload the page and find that the answer has gone on without you.";

pub(super) fn play(_: &Prompt) -> Steps {
    Play::open().say(ANSWER).done()
}
