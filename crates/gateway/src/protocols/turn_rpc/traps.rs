//! Faults of a turn, on request.

use crate::faults::traps;

traps! {
    // Other protocols have these too.
    SILENCE = "silence:MS": "turn-rpc: the provider says nothing for so long",
    UNKNOWN_TYPE = "unknown-type": "turn-rpc: an event of an unknown type",
    // Only this protocol has these.
    DROP_DELTAS = "drop-deltas[:N]": "turn-rpc: all deltas get lost, or every N-th",
    LATE_DELTA = "late-delta": "turn-rpc: a text's last delta comes after its item is complete",
    EARLY_EVENTS = "early-events": "turn-rpc: the agent's first events come before the response to turn/start",
    LOST_RESPONSE = "lost-response": "turn-rpc: turn/start is never answered, though the turn runs",
    DOUBLE_REASONING = "double-reasoning": "turn-rpc: reasoning items are completed twice, then with nothing in them",
    NO_MARKDOWN = "no-markdown": "turn-rpc: deltas come without their Markdown",
    HUGE_MARKDOWN = "huge-markdown:BYTES": "turn-rpc: the Markdown of a delta has at least so many bytes",
}
