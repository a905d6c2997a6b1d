//! What the real servers do now and then, on request.

use crate::faults::traps;

traps! {
    // What other protocols know as well.
    SILENCE = "silence:MS": "AgentEvent: the provider says nothing for so long",
    UNKNOWN_TYPE = "unknown-type": "AgentEvent: an event of an unknown type",
    UNKNOWN_TERMINATION = "unknown-termination": "AgentEvent: the run ends for an unknown reason",
    MESSAGES_SNAPSHOT = "messages-snapshot": "AgentEvent: the run begins with all messages so far",
    // What only this one knows.
    LEAK = "leak": "AgentEvent: envelopes carry the ids and numbers of other runs",
    ERROR_EOF = "error-eof:N": "AgentEvent: after N events an error of the server's state, then a clean end",
    RELAY_ERROR = "relay-error:N": "AgentEvent: the same with a flat error of its relay",
    RETRY_STEP = "retry-step:N[:call]": "AgentEvent: the provider drops after N deltas, or in a call; a new step goes on",
    RETRIES = "retries": "AgentEvent: the provider fails three times, and so does the run",
    SUSPEND_LIVE = "suspend-live": "AgentEvent: another call goes on while one waits for an answer",
    STALE_SNAPSHOT = "stale-snapshot": "AgentEvent: after an answer comes a snapshot of the state before it",
    STREAM_RESET = "stream-reset:N": "awaken: after N deltas of text all of them are void, and come again",
    TOOL_CANCEL = "tool-cancel": "awaken: a call is begun and taken back",
    LEGACY_PROGRESS = "legacy-progress": "AgentEvent: tools report progress in the older form",
    STATE_DELTA = "state-delta": "AgentEvent: the state changes by patches too",
    ACTIVITY_DELTA = "activity-delta": "AgentEvent: an activity changes by a patch",
}
