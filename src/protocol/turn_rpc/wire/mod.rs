//! The gateway's own messages, as types for users who read them: from `native`, from `details` of notices and from
//! `result.data` of tool results. The decoder produces [events](crate::event) and does not use these types.
//!
//! The package's declarations are derived from them. Older and newer servers may send other messages. Codex
//! app-server generates the types of its own dialect: `codex app-server generate-ts`.

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
