//! Scripts of one message, without tools.

use super::compose::{Message, Play, slices};
use super::step::FinishReason;
use super::{MAIN, Prompt, Steps};

const PLAIN: &str = "Here is a plain answer: no tools, no thinking, just text that arrives in \
small pieces.\n\nEach piece is one event with its own sequence number. If your connection drops \
halfway, the stream can be picked up after the last number you saw, and not a word is lost or \
said twice.";

/// `plain`: a short answer and nothing else.
pub(super) fn plain(_: &Prompt) -> Steps {
    Play::open().say(PLAIN).done()
}

const THOUGHTS: &str = "The question is which day has the least traffic, so that maintenance \
disturbs the fewest people. Weekends look quiet, but the shop sells most on Sunday evening. \
Tuesday has the fewest orders, and between three and four in the morning there are almost none. \
The nightly backup starts at half past three, though, so the work should be over by then.";

const CONCLUSION: &str = "**Tuesday, 02:45 to 03:25.** That is the quietest time of the week, and it \
ends before the nightly backup begins at 03:30. If forty minutes are too short, Thursday at the \
same hour is the next best choice.";

/// `reasoning`: the model thinks aloud before it answers.
pub(super) fn reasoning(_: &Prompt) -> Steps {
    let message = Message::new(MAIN).reasoning(THOUGHTS).text(CONCLUSION);
    Play::open().message(message).done()
}

const SLOW: &str = "One word every second. Long enough to press stop, to pull the plug, or to \
reload the page and find that the answer has gone on without you.";

/// `slow`: a word a second, so that there is time to stop it or to lose the connection.
pub(super) fn slow(_: &Prompt) -> Steps {
    Play::open().say(SLOW).done()
}

/// `refusal`: the model will not answer. With `refusal late` it has begun to.
pub(super) fn refusal(prompt: &Prompt) -> Steps {
    let late = prompt.text.split_whitespace().nth(1) == Some("late");
    let text = if late { "To open a door without its key you first" } else { "" };
    Play::open().message(Message::new(MAIN).text(text).reason(FinishReason::Refusal)).done()
}

/// `error`: the model's connection breaks in the middle of a word.
pub(super) fn error(_: &Prompt) -> Steps {
    let message = Message::new(MAIN)
        .text("I have found the cause. The certificate of your shop expired this morning, and the renew");
    Play::open()
        .steps(message.unfinished())
        .fail("The model provider closed the connection (502 Bad Gateway)")
}

/// `length`: the model reaches its limit of tokens.
pub(super) fn length(_: &Prompt) -> Steps {
    let message = Message::new(MAIN)
        .text(
            "There are many things to say about caching, and I intend to say all of them. First, \
             what a cache is. Second, what it is not. Third,",
        )
        .reason(FinishReason::Length);
    Play::open().message(message).fail("max_tokens breached")
}

const MARKDOWN: &str = r#"# Moving a site without downtime

The trick is to let both places answer for a while. You need **two hosts**, *patience*, and a
low `TTL`.

## Before you start

1. Lower the TTL of your DNS records to 60 seconds, a day ahead.
2. Copy the files:
   - once in full, while the old site runs,
   - once more for the differences, just before the switch.
3. Check the copy under a name that nobody knows yet.

## What it costs

| Step            | Time     | Visitors notice |
|:----------------|---------:|:---------------:|
| Full copy       | 2 h      | no              |
| Difference      | 5 min    | no              |
| DNS switch      | 1 min    | perhaps         |
| Waiting it out  | 1 day    | no              |

## The copy itself

```sh
rsync --archive --delete --info=progress2 \
  /srv/shop/ new-host:/srv/shop/
```

And a check that both places say the same:

```js
const [before, after] = await Promise.all(
  ["https://old.example", "https://new.example"].map(async (origin) => {
    const response = await fetch(`${origin}/health`);
    return response.json();
  }),
);
console.assert(before.version === after.version, "the copies differ");
```

> Do not turn the old host off on the same day. Somebody's resolver has never heard of TTLs.

More in the [moving guide](https://example.com/guides/moving), or ask me about ~~FTP~~ `sftp`.
"#;

/// `markdown`: everything that a chat page has to render.
pub(super) fn markdown(_: &Prompt) -> Steps {
    Play::open().say(MARKDOWN).done()
}

/// Written with escapes where an editor would hide or change characters.
const UNICODE: &str = "Emoji: \u{1F389} \u{1F469}\u{200D}\u{1F469}\u{200D}\u{1F467}\u{200D}\u{1F466} \
\u{1F3F3}\u{FE0F}\u{200D}\u{1F308} \u{1F1F3}\u{1F1F1} \u{1F44B}\u{1F3FE}\n\
Chinese, Japanese, Korean: 你好，世界。こんにちは世界。안녕하세요 세계.\n\
Right to left: مرحبا بالعالم، שלום עולם.\n\
Combining: e\u{301} is \u{E9}, a\u{308}o\u{308}u\u{308}, Z\u{351}\u{36B}\u{343}a\u{36A}\u{302}l\u{34C}g\u{33A}o\u{327}.\n\
Indic and Thai: नमस्ते दुनिया, สวัสดีชาวโลก.\n\
Beyond the basic plane: \u{1D54F}\u{1D550} \u{20BB7}\u{91CE}\u{5BB6} \u{10348}.\n\
Separators that are not line ends: [\u{2028}] [\u{2029}] [\u{85}] [\u{B}].\n\
Escapes: \"quoted\" back\\slash \ttab, a bell \u{7}, a byte order mark \u{FEFF} in the middle.\n\
Lines that look like a protocol:\ndata: not an event\nid: 999\nevent: none\n\n: done";

/// `unicode`: text that breaks when it is cut in the wrong place.
pub(super) fn unicode(_: &Prompt) -> Steps {
    // Two characters at a time, so that families, flags and marks are split.
    let message = Message::new(MAIN).text_pieces(slices(UNICODE, 2));
    Play::open().message(message).done()
}
