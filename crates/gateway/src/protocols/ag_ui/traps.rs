//! What real servers do that the specification does not allow, or that is easily overlooked, on request.

use crate::faults::traps;

traps! {
    // What other protocols know as well.
    SILENCE = "silence:MS": "AG-UI: the provider says nothing for so long",
    UNKNOWN_TYPE = "unknown-type": "AG-UI: an event of an unknown type",
    UNKNOWN_TERMINATION = "unknown-termination": "AG-UI: the run ends for an unknown reason",
    NOTHING = "nothing": "AG-UI: no events, for a turn that is not even begun",
    MESSAGES_SNAPSHOT = "messages-snapshot": "AG-UI: the run ends with all messages so far",
    // Which version is spoken.
    LEGACY = "legacy": "AG-UI: 0.x: no version, outcome of success, usage, metadata or sub-agents",
    NO_VERSION = "no-version": "AG-UI: 1.0 without `protocolVersion` and outcome of success",
    THINKING = "thinking": "AG-UI: THINKING_* in place of REASONING_*, as 0.x had it",
    NULLS = "nulls": "AG-UI: null for what is absent",
    SECONDS = "seconds": "AG-UI: timestamps in seconds",
    RAW = "raw": "AG-UI: RAW events, and `rawEvent` in all others",
    STEPS = "steps": "AG-UI: STEP events around the model's work and the tools'",
    KEEPALIVE = "keepalive:MS": "AG-UI: after such a silence `: keepalive` with CRLF",
    // Texts.
    CHUNKS = "chunks": "AG-UI: chunks in place of START, CONTENT and END",
    OPEN_TEXT = "open-text": "AG-UI: a text stays open across its calls and their results",
    REPEAT_REASONING = "repeat-reasoning": "AG-UI: reasoning comes again, whole, inside the open text",
    NO_TEXT = "no-text": "AG-UI: no text events; a snapshot at the end has the messages",
    // Calls.
    DUPLICATE_START = "duplicate-start": "AG-UI: calls START twice, then END twice",
    STRAY_END = "stray-end": "AG-UI: a resumed run ENDs a call that it never started",
    RESTART_CALLS = "restart-calls": "AG-UI: a resumed run STARTs its calls again",
    LOST_PARENT = "lost-parent": "AG-UI: calls belong to a message that was never started",
    NO_PARENT = "no-parent": "AG-UI: calls name no message",
    WHOLE_ARGUMENTS = "whole-arguments": "AG-UI: arguments come in one piece",
    RESULT_IDS = "result-ids": "AG-UI: the message of a result has the call's id",
    NO_RESULTS = "no-results": "AG-UI: results are in snapshots only",
    // Snapshots and state.
    NEW_IDS = "new-ids": "AG-UI: after each round a snapshot in which messages have new ids and trimmed texts",
    DROPPED_MESSAGES = "dropped-messages": "AG-UI: the snapshot at the end lacks the last message",
    PARTIAL_STATE = "partial-state": "AG-UI: snapshots of a part of the state, the whole one at the end",
    BAD_PATCH = "bad-patch": "AG-UI: a patch of the state that fails",
    // Pending questions.
    ON_INTERRUPT = "on-interrupt": "AG-UI: CUSTOM `on_interrupt` in place of an outcome, as LangGraph by default",
    ACCEPTED_CALL = "accepted-call": "AG-UI: consent is asked as if the page ran the tool, as by Agno",
    CONFIRMATION_CALL = "confirmation-call": "AG-UI: consent is a second call, as by ADK",
    CONFIRM_CHANGES = "confirm-changes": "AG-UI: beside the outcome CUSTOM and a call, as by Agent Framework",
    EXPIRING = "expiring:MS": "AG-UI: interrupts expire after so long",
    DROP_PENDING = "drop-pending": "AG-UI: a new message drops what waits, as with Pydantic AI",
    LOST_MESSAGE = "lost-message": "AG-UI: a new message gets lost, what waits is told again, as by LangGraph",
    // Ends.
    BARE_FINISH = "bare-finish": "AG-UI: RUN_FINISHED without ids",
    LATE_ERROR = "late-error": "AG-UI: RUN_ERROR after RUN_FINISHED",
    ERROR_FIRST = "error-first": "AG-UI: RUN_ERROR is the only event",
    ERROR_EVENT = "error-event": "AG-UI: `event: error` and a clean end, where the run would finish",
    CANCELLED = "cancelled": "AG-UI: the server cancels the run where it would finish",
    BUSY = "busy": "AG-UI: 409, as if another run of the thread were active",
}
