//! The input of a scripted agent: the user's message, files, and answers to its questions.

use std::collections::BTreeMap;

/// Facts that a conversation keeps from turn to turn.
pub(crate) type Memory = BTreeMap<&'static str, String>;

/// A file that came with the user's message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Attachment {
    pub(crate) name: String,
    pub(crate) mime: String,
    /// Size of the decoded file.
    pub(crate) bytes: usize,
}

/// The user's side of one turn.
#[derive(Debug, Clone, Default)]
pub(crate) struct Prompt {
    /// The text of all messages of the turn, parts joined by blank lines.
    pub(crate) text: String,
    pub(crate) files: Vec<Attachment>,
    pub(crate) memory: Memory,
    /// How many turns of the same conversation came before.
    pub(crate) turns_before: usize,
}

impl Prompt {
    /// The first word in lower case: the name of the script, if there is such a script.
    pub(crate) fn first_word(&self) -> String {
        self.text
            .split_whitespace()
            .next()
            .unwrap_or_default()
            .trim_matches(|c: char| c.is_ascii_punctuation() && c != '-')
            .to_lowercase()
    }

    /// The first number after the first word: `long 5000` has 5000.
    pub(crate) fn number(&self) -> Option<usize> {
        self.text.split_whitespace().nth(1).and_then(|word| word.replace([',', '_'], "").parse().ok())
    }
}

/// What a conversation keeps from turn to turn.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    pub(crate) memory: Memory,
    /// How many turns began with words of the user.
    turns: usize,
}

impl Conversation {
    /// The prompt of the next turn.
    pub(crate) fn prompt(&mut self, text: String, files: Vec<Attachment>) -> Prompt {
        self.turns += 1;
        Prompt { text, files, memory: self.memory.clone(), turns_before: self.turns - 1 }
    }
}

/// About how many tokens a text has: one for four characters.
pub(crate) fn tokens(text: &str) -> usize {
    text.chars().count().div_ceil(4)
}

/// The user's decision about a call that needs consent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Approval {
    Allow,
    Deny { reason: Option<String> },
}

/// All answers of one turn, by tool call id.
#[derive(Debug, Clone, Default)]
pub(crate) struct Answers {
    pub(crate) approvals: BTreeMap<String, Approval>,
    pub(crate) responses: BTreeMap<String, String>,
}

impl Answers {
    /// `None` when the call is allowed, else the text that the model gets instead of a result.
    pub(crate) fn denial(&self, call: &str) -> Option<String> {
        match self.approvals.get(call)? {
            Approval::Allow => None,
            Approval::Deny { reason: None } => Some("Error: the user denied this tool call.".to_owned()),
            Approval::Deny { reason: Some(reason) } => {
                Some(format!("Error: the user denied this tool call. Reason: {reason}"))
            }
        }
    }

    /// The client's result of a call.
    pub(crate) fn response(&self, call: &str) -> &str {
        self.responses.get(call).map_or("", String::as_str)
    }
}
