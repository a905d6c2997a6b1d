//! Building blocks of scripts: messages cut into deltas, tool calls, interleaved steps.

use serde_json::Value;

use super::step::{Ending, FinishReason, MAIN, MessageKey, Resume, Server, Step, Steps, Tool};

/// The tool servers of the made-up hosting company that the scripts work for.
pub(crate) const CONSOLE: Server = Server { id: "mcp-console", name: "console" };
/// The help desk of that company.
pub(crate) const HELPDESK: Server = Server { id: "mcp-helpdesk", name: "helpdesk" };

/// A tool of the hosting console.
pub(crate) const fn console(name: &'static str) -> Tool {
    Tool::Remote { server: CONSOLE, name }
}

/// A tool of the help desk.
pub(crate) const fn helpdesk(name: &'static str) -> Tool {
    Tool::Remote { server: HELPDESK, name }
}

/// An id for a tool call, as models make them: `call_` and 24 letters or digits.
pub(crate) fn call_id() -> String {
    let random = uuid::Uuid::new_v4().simple().to_string();
    format!("call_{}", &random[..24])
}

/// The steps of a script, in the order in which they are added.
#[derive(Debug, Default)]
pub(crate) struct Play {
    steps: Vec<Step>,
}

impl Play {
    /// A turn's usual beginning: the main thread opens its tool servers.
    pub(crate) fn open() -> Self {
        Self::default().step(Step::Connect { thread: MAIN.to_owned(), servers: vec![CONSOLE, HELPDESK] })
    }

    /// A beginning without any event, for threads that begin differently.
    pub(crate) fn silent() -> Self {
        Self::default()
    }

    pub(crate) fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    pub(crate) fn steps(mut self, steps: impl IntoIterator<Item = Step>) -> Self {
        self.steps.extend(steps);
        self
    }

    pub(crate) fn wait(self, beats: u32) -> Self {
        self.step(Step::Wait(beats))
    }

    pub(crate) fn remember(self, key: &'static str, value: impl Into<String>) -> Self {
        self.step(Step::Remember { key, value: value.into() })
    }

    /// A whole message of the main thread that ends its turn's talk.
    pub(crate) fn say(self, text: &str) -> Self {
        self.message(Message::new(MAIN).text(text))
    }

    pub(crate) fn message(self, message: Message) -> Self {
        self.steps(message.finish())
    }

    /// The result of a call on the main thread, after the time that the tool takes.
    pub(crate) fn result(self, beats: u32, call: &str, content: impl Into<String>) -> Self {
        self.wait(beats).step(Step::ToolResult {
            thread: MAIN.to_owned(),
            call: call.to_owned(),
            content: content.into(),
        })
    }

    pub(crate) fn done(self) -> Steps {
        self.end(Ending::Done)
    }

    pub(crate) fn pause(self, resume: impl Fn(&super::Answers) -> Steps + Send + Sync + 'static) -> Steps {
        self.end(Ending::Paused(Resume::from(std::sync::Arc::new(resume) as Resume)))
    }

    pub(crate) fn fail(self, message: impl Into<String>) -> Steps {
        self.end(Ending::Failed(message.into()))
    }

    pub(crate) fn end(self, ending: Ending) -> Steps {
        Box::new(self.step(Step::End(ending)).into_steps().into_iter())
    }

    /// The bare steps, to be inserted into another script.
    pub(crate) fn into_steps(self) -> Vec<Step> {
        self.steps
    }
}

/// One model message as the steps that stream it.
#[derive(Debug)]
pub(crate) struct Message {
    key: MessageKey,
    calls: usize,
    steps: Vec<Step>,
    reason: Option<FinishReason>,
}

impl Message {
    pub(crate) fn new(thread: &str) -> Self {
        let key = MessageKey::next();
        Self {
            key,
            calls: 0,
            steps: vec![Step::BeginMessage { message: key, thread: thread.to_owned() }],
            reason: None,
        }
    }

    pub(crate) fn text(self, text: &str) -> Self {
        self.text_pieces(words(text))
    }

    pub(crate) fn text_pieces(mut self, pieces: impl IntoIterator<Item = String>) -> Self {
        let message = self.key;
        self.steps.extend(pieces.into_iter().map(|text| Step::Text { message, text }));
        self
    }

    pub(crate) fn reasoning(mut self, text: &str) -> Self {
        let message = self.key;
        self.steps.extend(words(text).map(|text| Step::Reasoning { message, text }));
        self
    }

    /// One call, its arguments streamed in pieces.
    pub(crate) fn call(self, call: &str, tool: Tool, arguments: &Value) -> Self {
        self.calls(&[(call, tool, arguments)])
    }

    /// Several calls whose arguments arrive interleaved, a piece of each in turn.
    pub(crate) fn calls(mut self, calls: &[(&str, Tool, &Value)]) -> Self {
        let message = self.key;
        let streams = calls.iter().map(|(call, tool, arguments)| {
            let index = self.calls;
            self.calls += 1;
            let mut steps = vec![Step::BeginCall { message, index, call: (*call).to_owned(), tool: *tool }];
            steps.extend(slices(&arguments.to_string(), 12).map(|text| Step::Arguments {
                message,
                index,
                text,
            }));
            steps
        });
        self.steps = std::mem::take(&mut self.steps).into_iter().chain(weave(streams.collect())).collect();
        self
    }

    /// Ends the message for a reason that its content does not imply.
    pub(crate) fn reason(mut self, reason: FinishReason) -> Self {
        self.reason = Some(reason);
        self
    }

    /// The steps without an end: a message that breaks off.
    pub(crate) fn unfinished(self) -> Vec<Step> {
        self.steps
    }

    pub(crate) fn finish(self) -> Vec<Step> {
        let natural = if self.calls > 0 { FinishReason::ToolCalls } else { FinishReason::Stop };
        let mut steps = self.steps;
        steps.push(Step::EndMessage { message: self.key, reason: self.reason.unwrap_or(natural) });
        steps
    }
}

/// Cuts prose as models do: a word with the space before it, long words in two or more.
pub(crate) fn words(text: &str) -> impl Iterator<Item = String> + use<> {
    const LONGEST: usize = 8;
    let mut pieces = Vec::new();
    let mut piece = String::new();
    let mut letters = 0;
    for c in text.chars() {
        let starts_word = c == ' ' && !piece.ends_with(' ');
        if !piece.is_empty() && (starts_word || letters == LONGEST) {
            pieces.push(std::mem::take(&mut piece));
            letters = 0;
        }
        piece.push(c);
        letters += 1;
    }
    if !piece.is_empty() {
        pieces.push(piece);
    }
    pieces.into_iter()
}

/// Cuts text every `size` characters, regardless of its content.
pub(crate) fn slices(text: &str, size: usize) -> impl Iterator<Item = String> + use<> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(size).map(|slice| slice.iter().collect()).collect::<Vec<String>>().into_iter()
}

/// Takes one step of each list in turn until all are used up.
pub(crate) fn weave(lists: Vec<Vec<Step>>) -> Vec<Step> {
    let mut lists: Vec<_> = lists.into_iter().map(Vec::into_iter).collect();
    let mut woven = Vec::new();
    while !lists.is_empty() {
        lists.retain_mut(|list| match list.next() {
            Some(step) => {
                woven.push(step);
                true
            }
            None => false,
        });
    }
    woven
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_every_character() {
        let text = "Two  spaces, an extraordinarily long word\n\nand a paragraph. 日本語のテキスト";
        let pieces: Vec<String> = words(text).collect();
        assert_eq!(pieces.concat(), text);
        assert!(pieces.iter().all(|piece| piece.chars().count() <= 8));
    }

    #[test]
    fn woven_lists_alternate_until_the_longest_ends() {
        let waits = |beats: &[u32]| beats.iter().map(|&n| Step::Wait(n)).collect::<Vec<_>>();
        let woven = weave(vec![waits(&[1, 2, 3]), waits(&[10])]);
        let beats: Vec<u32> = woven
            .iter()
            .map(|step| match step {
                Step::Wait(n) => *n,
                _ => unreachable!("only waits were woven"),
            })
            .collect();
        assert_eq!(beats, [1, 10, 2, 3]);
    }
}
