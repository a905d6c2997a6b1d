//! A chat page in Rust: Leptos for the page, the crate `turnwire` for the agent, over `fetch` or over a WebSocket.

mod chat;
mod connection;
mod conversation;
mod view;

fn main() {
    console_error_panic_hook::set_once();
    leptos::mount::mount_to_body(chat::Chat);
}
