//! What the released server does to a turn, on request.

use crate::faults::traps;

traps! {
    // What other protocols know as well.
    SILENCE = "silence:MS": "AAP: the provider says nothing for so long",
    UNKNOWN_TYPE = "unknown-type": "AAP: an event of an unknown type",
    UNKNOWN_TERMINATION = "unknown-termination": "AAP: the run ends for an unknown reason",
    NOTHING = "nothing": "AAP: no events, for a turn that is not even begun",
    // What only this one knows.
    LOST_END = "lost-end": "AAP: `turn_stop` gets lost, with whole messages all of the last round",
    THROW = "throw:N": "AAP: the model fails after N deltas: `turn_stop` twice, none at all, or a 500",
    SILENT_GRANT = "silent-grant": "AAP: a granted call runs without a `tool_result`",
    TWICE_STORED = "twice-stored": "AAP: results of trusted tools are stored twice",
    TEXT_FIRST = "text-first": "AAP: whole messages have their text before the thinking",
    ABANDON = "abandon": "AAP: the turn ends with its reader",
    USE_DENIED = "use-denied": "AAP: denials as the released server words them",
    PLAIN_CONTENT = "plain-content": "AAP: messages of text alone have a string for content",
    BLOCK_RESULTS = "block-results": "AAP: results of server tools have blocks for content",
    OTHER_VERSION = "other-version": "AAP: `/meta` declares another version of the protocol",
}
