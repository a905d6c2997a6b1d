//! The types of frames, and the texts that each has (section 2).

use crate::json::Object;
use crate::protocol::fields::{Problem, optional_text, text};
use crate::text::cut;

/// The content of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    RunStarted,
    RunFinished,
    RunError,
    Step,
    MessageStart,
    MessageContent,
    MessageEnd,
    Encrypted,
    ThinkingStart,
    ThinkingContent,
    ThinkingEnd,
    CallStart,
    CallArguments,
    CallEnd,
    CallResult,
    Chunk,
    /// A snapshot of the state, or a change of it.
    State,
    MessagesSnapshot,
    Activity,
    SubagentStarted,
    SubagentEnded,
    Custom,
    /// A frame for `native` only.
    Raw,
    /// A frame whose content other frames have as well.
    Nothing,
    /// A frame of an unknown type.
    Unknown,
}

/// How many kinds there are.
pub(super) const KIND_COUNT: usize = Kind::Unknown as usize + 1;

/// Lists the types: their names on the wire, their content, and their texts. A `?` marks an optional text.
macro_rules! frames {
    ($($name:literal $kind:ident $texts:literal;)+) => {
        const KINDS: &[Kind] = &[$(Kind::$kind,)+];
        /// A line for each: less than a list of strings.
        const LINES: &str = concat!($($name, ":", $texts, "\n",)+);
    };
}

frames! {
    "TEXT_MESSAGE_CONTENT" MessageContent "messageId delta";
    "REASONING_MESSAGE_CONTENT" MessageContent "messageId delta";
    "TOOL_CALL_ARGS" CallArguments "toolCallId delta";
    "TEXT_MESSAGE_START" MessageStart "messageId ?role";
    "TEXT_MESSAGE_END" MessageEnd "messageId";
    "REASONING_MESSAGE_START" MessageStart "messageId";
    "REASONING_MESSAGE_END" MessageEnd "messageId";
    "REASONING_ENCRYPTED_VALUE" Encrypted "entityId encryptedValue subtype";
    "TOOL_CALL_START" CallStart "toolCallId toolCallName ?parentMessageId";
    "TOOL_CALL_END" CallEnd "toolCallId";
    "TOOL_CALL_RESULT" CallResult "messageId toolCallId";
    "TEXT_MESSAGE_CHUNK" Chunk "?messageId ?role ?delta ?subagentRunId";
    "REASONING_MESSAGE_CHUNK" Chunk "?messageId ?delta ?subagentRunId";
    "TOOL_CALL_CHUNK" Chunk "?toolCallId ?toolCallName ?parentMessageId ?delta ?subagentRunId";
    "RUN_STARTED" RunStarted "";
    "RUN_FINISHED" RunFinished "";
    "RUN_ERROR" RunError "";
    "STEP_STARTED" Step "stepName";
    "STEP_FINISHED" Step "stepName";
    "STATE_SNAPSHOT" State "";
    "STATE_DELTA" State "";
    "MESSAGES_SNAPSHOT" MessagesSnapshot "";
    "ACTIVITY_SNAPSHOT" Activity "messageId activityType";
    "ACTIVITY_DELTA" Activity "messageId activityType";
    "SUBAGENT_STARTED" SubagentStarted "subagentRunId name ?parentToolCallId";
    "SUBAGENT_FINISHED" SubagentEnded "subagentRunId";
    "SUBAGENT_ERROR" SubagentEnded "subagentRunId message";
    "CUSTOM" Custom "name";
    "THINKING_TEXT_MESSAGE_START" ThinkingStart "";
    "THINKING_TEXT_MESSAGE_CONTENT" ThinkingContent "delta";
    "THINKING_TEXT_MESSAGE_END" ThinkingEnd "";
    "REASONING_START" Nothing "";
    "REASONING_END" Nothing "";
    "THINKING_START" Nothing "";
    "THINKING_END" Nothing "";
    "RAW" Raw "";
}

/// The content of a frame of this type, and its texts.
pub(super) fn kind_of(wire_type: &str) -> (Kind, &'static str) {
    let mut rest = LINES;
    for kind in KINDS {
        let (line, others) = cut(rest, b'\n');
        let (name, texts) = cut(line, b':');
        if name == wire_type {
            return (*kind, texts);
        }
        rest = others;
    }
    (Kind::Unknown, "")
}

/// Checks that a frame has its texts.
pub(super) fn check(fields: &Object<'_>, texts: &str) -> Result<(), Problem> {
    let mut rest = texts;
    while !rest.is_empty() {
        let (name, others) = cut(rest, b' ');
        match name.strip_prefix('?') {
            Some(name) => optional_text(fields, name).map(drop)?,
            None => text(fields, name).map(drop)?,
        }
        rest = others;
    }
    Ok(())
}
