//! The page: a heading, the turns, and a field for the next message.

use leptos::html::Input;
use leptos::prelude::*;

use crate::connection::Transport;
use crate::conversation::Conversation;
use crate::view::TurnView;

/// What the development gateway's agent has a script for.
const HINTS: [(&str, &str); 3] = [("reasoning", "a reply"), ("tools", "tools"), ("approval", "an approval")];

/// The whole page.
#[component]
pub fn Chat() -> impl IntoView {
    let transport = Transport::of_page();
    let conversation = Conversation::new(transport);
    let field = NodeRef::<Input>::new();
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let Some(input) = field.get() else { return };
        let text = input.value();
        if !text.trim().is_empty() && !conversation.is_busy() {
            input.set_value("");
            conversation.send(text);
        }
    };
    let current = move |one: Transport| (one == transport).then_some("page");
    let is_busy = move || conversation.is_busy();
    let turns = move || conversation.turns.get();
    let hints = move || turns().is_empty().then(|| view! { <Hints conversation /> });
    let problem = move || {
        let error = conversation.problem.get();
        error.map(|error| view! { <p class="status wrong" role="alert">{error.message.clone()}</p> })
    };
    view! {
        <main>
            <header>
                <h1>"turnwire in Rust"</h1>
                <nav>
                    <a href="?over=fetch" aria-current=current(Transport::Fetch)>"fetch"</a>
                    <a href="?over=socket" aria-current=current(Transport::Socket)>"WebSocket"</a>
                </nav>
                <button on:click=move |_| conversation.cut() disabled=move || !is_busy()>"Cut the connection"</button>
            </header>
            {hints}
            <ol>
                <For each=turns key=|shown| shown.key let:shown>
                    <TurnView conversation shown />
                </For>
            </ol>
            {problem}
            <form on:submit=submit>
                <input node_ref=field aria-label="Message" placeholder="Ask the agent" autocomplete="off" />
                <Show when=is_busy fallback=|| view! { <button class="main">"Send"</button> }>
                    <button type="button" on:click=move |_| conversation.stop()>"Stop"</button>
                </Show>
            </form>
        </main>
    }
}

/// What to try first.
#[component]
fn Hints(conversation: Conversation) -> impl IntoView {
    let hint = move |(script, label): (&'static str, &'static str)| {
        view! { <button on:click=move |_| conversation.send(script)>{label}</button> " " }
    };
    view! {
        <div class="hints">
            <p>"Leptos draws this page, and the crate streams the turns. Ask for "</p>
            {HINTS.map(hint).collect_view()}
        </div>
    }
}
