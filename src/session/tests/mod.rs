//! Tests of what a session decides from more than one of its turns.

mod conversation;
mod state;
