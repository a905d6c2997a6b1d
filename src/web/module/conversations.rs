//! The functions that only the core of protocols has whose sessions the client keeps. [`exports`](super::exports) says how
//! they take and return texts.

use wasm_bindgen::prelude::*;

use super::state::texts;

/// The conversation of a session (JSON), to be stored; empty before its first turn. The input is one to go on with, which
/// was stored, or empty.
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
