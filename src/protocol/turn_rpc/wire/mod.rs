//! The messages of the gateway in its own words, for those who read them themselves: what `native` gives, what stands
//! in `details` of notices and in `result.data` of tool results. Turnwire's decoder gives [events](crate::event) and
//! does not use these types.
//!
//! The package's declarations of them are derived from here, as those of events are from theirs. What an older or newer
//! server sends may be none of these. Codex app-server writes the types of its own dialect:
//! `codex app-server generate-ts`.

mod item;
mod notification;
mod turn;

pub use item::{ItemAttachment, ToolDisplay, ToolItem, ToolOutcome, TurnItem};
pub use notification::{
    CompressedParams, CompressingParams, ItemDeltaParams, ItemParams, RecoveryAttached, RecoveryExhausted,
    RecoveryOf, RecoveryOpened, RetryBudget, RetryScheduled, ThreadClosedParams, ThreadParams,
    TimelineChangedParams, TimeoutDetected, ToolDeltaPayload, ToolLoopBudgetExceeded, ToolRetryExhausted,
    ToolRetryResolved, ToolRetryScheduled, TreeChangedParams, TurnParams, TurnRpcNotification,
};
pub use turn::{
    CapabilityKind, PromptManifest, PromptManifestDiagnostic, RejectedCapability, SandboxPolicy,
    TurnCapability, TurnRpcSessionOptions, TurnRpcThread, TurnRpcTurn, TurnRpcTurnOptions,
};
