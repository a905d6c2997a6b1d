//! `unicode`: text that breaks when it is cut in the wrong place.

use super::compose::{Message, Play, slices};
use super::{MAIN, Prompt, Steps};

/// Written with escapes where an editor would hide or change what stands there.
const ANSWER: &str = "Emoji: \u{1F389} \u{1F469}\u{200D}\u{1F469}\u{200D}\u{1F467}\u{200D}\u{1F466} \
\u{1F3F3}\u{FE0F}\u{200D}\u{1F308} \u{1F1F3}\u{1F1F1} \u{1F44B}\u{1F3FE}\n\
Chinese, Japanese, Korean: 你好，世界。こんにちは世界。안녕하세요 세계.\n\
Right to left: مرحبا بالعالم، שלום עולם.\n\
Combining: e\u{301} is \u{E9}, a\u{308}o\u{308}u\u{308}, Z\u{351}\u{36B}\u{343}a\u{36A}\u{302}l\u{34C}g\u{33A}o\u{327}.\n\
Indic and Thai: नमस्ते दुनिया, สวัสดีชาวโลก.\n\
Beyond the basic plane: \u{1D54F}\u{1D550} \u{20BB7}\u{91CE}\u{5BB6} \u{10348}.\n\
Separators that are not line ends: [\u{2028}] [\u{2029}] [\u{85}] [\u{B}].\n\
Escapes: \"quoted\" back\\slash \ttab, a bell \u{7}, a byte order mark \u{FEFF} in the middle.\n\
Lines that look like a protocol:\ndata: not an event\nid: 999\nevent: none\n\n: done";

pub(super) fn play(_: &Prompt) -> Steps {
    // Two characters at a time, so that families, flags and marks are torn apart.
    let message = Message::new(MAIN).text_pieces(slices(ANSWER, 2));
    Play::open().message(message).done()
}
