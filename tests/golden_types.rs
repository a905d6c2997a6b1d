//! The TypeScript declarations of events and records are derived from the Rust types, and kept in the
//! tree as one reviewed text: `pkg/src/events.ts`. A change to them is a visible diff.
//!
//! `UPDATE_GOLDEN=1 cargo test --test golden_types` writes the file anew.
#![cfg(not(target_arch = "wasm32"))]

use std::fmt::Write as _;

use tsify::Tsify;
use turnwire::event::{
    ActivityDelta, ActivitySnapshot, AgentInfo, Approval, ContentPart, CreatedBy, Event, FileUpload,
    McpAuthRequired, McpInitialize, McpServer, McpServerAuth, MessageReset, MessagesSnapshot, ModelContent,
    ModelContentPart, ModelMessage, ModelMessageDelta, ParentCall, PatchOperation, RequiredActionEvent,
    RunningState, SandboxCreated, ServerError, SessionEvent, SessionRecord, StateDelta, StateKey,
    StateOperation, StateOperations, StateSnapshot, StopReason, Subject, Suspension, TerminalState,
    Termination, ThreadCreated, ThreadDone, ThreadMessage, ThreadState, ThreadToolCall, ToolCall,
    ToolCallDelta, ToolCallFunction, ToolCallFunctionDelta, ToolCallRef, ToolCancelled, ToolInfo,
    ToolProgress, ToolResponse, ToolResult, ToolResumed, ToolsRequired, TrackedPatch, TurnCreated, TurnDone,
    TurnInputItem, TurnMetrics, TurnRecord, TurnState, UnknownEvent, Usage, UsageBreakdown, UserContent,
};

const HEAD: &str = "\
// Events, inputs and records, as they are on the wire. Derived from the Rust types in `src/event`, whose
// golden test writes this file: do not edit it.
";

macro_rules! declarations {
    ($($type:ty),* $(,)?) => { [$(<$type as Tsify>::DECL),*] };
}

#[test]
fn declarations_are_as_reviewed() {
    let declarations = declarations![
        Event,
        TurnCreated,
        TurnDone,
        ModelMessage,
        ModelMessageDelta,
        ToolResponse,
        ThreadCreated,
        ThreadDone,
        McpInitialize,
        McpAuthRequired,
        SandboxCreated,
        ToolsRequired,
        ToolResumed,
        ToolCancelled,
        MessageReset,
        StateSnapshot,
        StateDelta,
        MessagesSnapshot,
        ActivitySnapshot,
        ActivityDelta,
        ServerError,
        UnknownEvent,
        TurnState,
        TerminalState,
        RunningState,
        RequiredActionEvent,
        TurnMetrics,
        Subject,
        CreatedBy,
        ModelContent,
        ModelContentPart,
        ToolCall,
        ToolCallDelta,
        ToolCallFunction,
        ToolCallFunctionDelta,
        ToolInfo,
        ToolCallRef,
        Usage,
        UsageBreakdown,
        ThreadState,
        ParentCall,
        AgentInfo,
        ToolResult,
        Suspension,
        Termination,
        StopReason,
        ToolProgress,
        TrackedPatch,
        StateOperations,
        StateOperation,
        StateKey,
        PatchOperation,
        ThreadMessage,
        ThreadToolCall,
        McpServer,
        McpServerAuth,
        TurnInputItem,
        UserContent,
        ContentPart,
        FileUpload,
        Approval,
        SessionRecord,
        TurnRecord,
        SessionEvent,
    ];
    let mut text = HEAD.to_owned();
    for declaration in declarations {
        write!(text, "\n{declaration}\n").expect("a string takes any text");
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/pkg/src/events.ts");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, &text).expect("the file can be written");
    }
    let golden = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        golden == text,
        "pkg/src/events.ts is not what src/event declares; UPDATE_GOLDEN=1 writes it anew"
    );
}
