//! `file`: tells what came with the message.

use std::fmt::Write;

use super::compose::Play;
use super::{Attachment, Prompt, Steps};

pub(super) fn play(prompt: &Prompt) -> Steps {
    let text = match prompt.files.as_slice() {
        [] => "There is no file in your message. Attach one, and I will tell you its name, its \
               type and its size."
            .to_owned(),
        [file] => format!("I received one file: {}.", description(file)),
        files => list(files),
    };
    Play::open().say(&text).done()
}

fn list(files: &[Attachment]) -> String {
    let mut text = format!("I received {} files:\n", files.len());
    for file in files {
        // Writing into a string cannot fail.
        let _ = write!(text, "\n- {}", description(file));
    }
    text
}

fn description(file: &Attachment) -> String {
    format!("`{}`, type `{}`, {} bytes", file.name, file.mime, file.bytes)
}
