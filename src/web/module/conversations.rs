//! The functions that only the core of protocols with client-kept sessions has. [`exports`](super::exports) describes
//! how they take and return texts.

use wasm_bindgen::prelude::*;

use super::state::{texts, with};

/// The conversation of a session (JSON), to be stored; empty before its first turn. The input is a stored conversation
/// to continue, or empty.
#[wasm_bindgen(js_name = conversationOf)]
pub fn conversation_of(session: u32) -> u32 {
    texts(&mut |core, stored| {
        let Some(session) = core.sessions.get(session) else { return Ok(String::new()) };
        if !stored.is_empty() {
            session.set_conversation(stored)?;
        }
        Ok(session.conversation().to_owned())
    })
}

/// How long to go on reading a turn's stream, in milliseconds since this was 0; 0 for no limit. The server has then
/// reported how the turn ends, and the stream is left after this time.
#[wasm_bindgen(js_name = conversationGrace)]
pub fn conversation_grace(turn: u32) -> u32 {
    with(|core| core.turns.get(turn).map_or(0, |turn| turn.turn().reader().grace()))
}
