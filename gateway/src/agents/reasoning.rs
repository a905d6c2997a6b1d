//! `reasoning`: the model thinks aloud before it answers.

use super::compose::{Message, Play};
use super::{MAIN, Prompt, Steps};

const THOUGHTS: &str = "The question is which day has the least traffic, so that maintenance \
disturbs the fewest people. Weekends look quiet, but the shop sells most on Sunday evening. \
Tuesday has the fewest orders, and between three and four in the morning there are almost none. \
The nightly backup starts at half past three, though, so the work should be over by then.";

const ANSWER: &str = "**Tuesday, 02:45 to 03:25.** That is the quietest time of the week, and it \
ends before the nightly backup begins at 03:30. If forty minutes are too short, Thursday at the \
same hour is the next best choice.";

pub(super) fn play(_: &Prompt) -> Steps {
    let message = Message::new(MAIN).reasoning(THOUGHTS).text(ANSWER);
    Play::open().message(message).done()
}
