//! Scripted agents. The first word of the user's message chooses the script; everything else is
//! answered by the support agent.

mod compose;
mod draft;
mod prompt;
mod served;
mod step;

mod long;
mod page;
mod questions;
mod subagents;
mod support;
mod texts;
mod tools;

use std::fmt::Write;
use std::time::Duration;

pub(crate) use compose::{Message, Play, call_id, words};
pub(crate) use draft::{Draft, Drafts};
pub(crate) use prompt::{Answers, Approval, Attachment, Conversation, Memory, Prompt, tokens};
pub(crate) use served::serve;
pub(crate) use step::{Ending, FinishReason, MAIN, MessageKey, Resume, Server, Step, Steps, SubAgent, Tool};

/// The fact under which a conversation keeps the id of its sandbox.
pub(crate) const SANDBOX: &str = "sandbox";
/// All facts that conversations keep.
pub(crate) const FACTS: [&str; 2] = [SANDBOX, support::TICKET];

/// One scripted agent.
#[derive(Debug)]
pub(crate) struct Script {
    name: &'static str,
    /// What it demonstrates, for people who look for something to try.
    about: &'static str,
    /// Its own pace, where the default does not fit.
    pub(crate) beat: Option<Duration>,
    pub(crate) play: fn(&Prompt) -> Steps,
}

impl Script {
    const fn new(name: &'static str, about: &'static str, play: fn(&Prompt) -> Steps) -> Self {
        Self { name, about, beat: None, play }
    }

    const fn at(self, beat: Duration) -> Self {
        Self { beat: Some(beat), ..self }
    }
}

static SUPPORT: Script = Script::new("support", "a small support desk", support::play);

static SCRIPTS: [Script; 19] = [
    Script::new("plain", "a short answer", texts::plain),
    Script::new("reasoning", "thinks before it answers", texts::reasoning),
    Script::new("markdown", "headings, a table, code", texts::markdown),
    Script::new("unicode", "emoji, right-to-left, CJK, combining marks", texts::unicode),
    Script::new("tools", "one tool call after another", tools::tools),
    Script::new("parallel", "three tool calls at once", tools::parallel),
    Script::new("approval", "a tool call that needs your consent", questions::approval),
    Script::new("question", "asks you to choose", questions::question),
    Script::new("mixed", "consent, a question and a plain call in one message", questions::mixed),
    Script::new("page", "calls tools that your page runs; `page rounds 3`, `page mixed`", page::play),
    Script::new("subagents", "three sub-agents, one of which fails", subagents::play),
    Script::new("mcp-auth", "a tool server that wants you to sign in", tools::mcp_auth),
    Script::new("sandbox", "runs code and leaves a file to download", tools::sandbox),
    Script::new("file", "tells what you attached", tools::file),
    Script::new("long", "100,000 deltas; `long 5000` for fewer", long::play).at(Duration::ZERO),
    Script::new("slow", "a word a second: stop it, or drop the line", texts::slow).at(Duration::from_secs(1)),
    Script::new("error", "fails in the middle of a word", texts::error),
    Script::new("length", "runs out of tokens", texts::length),
    Script::new("refusal", "will not answer", texts::refusal),
];

/// The script for a message.
pub(crate) fn choose(prompt: &Prompt) -> &'static Script {
    let word = prompt.first_word();
    let name = match word.as_str() {
        "mcp" => "mcp-auth",
        // The support desk itself suggests to write "file a ticket".
        "file" if prompt.text.to_lowercase().contains("ticket") => SUPPORT.name,
        other => other,
    };
    SCRIPTS.iter().find(|script| script.name == name).unwrap_or(&SUPPORT)
}

/// The steps for a prompt, and the script's own pace, if any.
pub(crate) fn perform(prompt: &Prompt) -> (Steps, Option<Duration>) {
    let script = choose(prompt);
    ((script.play)(prompt), script.beat)
}

/// Whether an agent of this name exists. Every name does, except `nope` and names that begin with `no-such`.
pub(crate) fn exists(name: &str) -> bool {
    name != "nope" && !name.starts_with("no-such")
}

/// All scripts as a Markdown list.
pub(crate) fn catalog() -> String {
    let mut list = String::new();
    for script in &SCRIPTS {
        // Writing into a string cannot fail.
        let _ = writeln!(list, "- `{}`: {}", script.name, script.about);
    }
    list
}

/// The steps of an answer that no script has.
pub(crate) fn saying(text: &str) -> Steps {
    compose::Play::silent().say(text).done()
}

/// Whether some script's agent uses a tool server of this name.
pub(crate) fn knows_server(name: &str) -> bool {
    [compose::CONSOLE, compose::HELPDESK, tools::CALENDAR].iter().any(|server| server.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(text: &str) -> &'static str {
        let prompt = Prompt { text: text.to_owned(), ..Prompt::default() };
        choose(&prompt).name
    }

    #[test]
    fn the_first_word_chooses() {
        assert_eq!(chosen("  LONG 5000"), "long");
        assert_eq!(chosen("Approval, please"), "approval");
        assert_eq!(chosen("mcp"), "mcp-auth");
        assert_eq!(chosen("mcp-auth now"), "mcp-auth");
        assert_eq!(chosen("I want plain text"), "support");
        assert_eq!(chosen("File this, please"), "file");
        assert_eq!(chosen("File a ticket, please"), "support");
        assert_eq!(chosen(""), "support");
    }

    #[test]
    fn every_script_comes_to_an_end() {
        for script in &SCRIPTS {
            let prompt = Prompt { text: format!("{} 50", script.name), ..Prompt::default() };
            let last = (script.play)(&prompt).last();
            assert!(matches!(last, Some(Step::End(_))), "{}", script.name);
        }
    }
}
