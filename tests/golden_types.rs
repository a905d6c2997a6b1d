//! The TypeScript declarations are derived from the Rust types, and committed as reviewed texts: those of
//! events and records in `pkg/src/wire/events.ts`, those of a protocol's own frames in `pkg/src/wire/native.ts`. A
//! change to them is a visible diff.
//!
//! `UPDATE_GOLDEN=1 cargo test --test golden_types` rewrites the files.
#![cfg(not(target_arch = "wasm32"))]

use std::fmt::Write as _;
use std::path::Path;

use tsify::Tsify;
use turnwire::event::{
    ActivityDelta, ActivitySnapshot, AgentInfo, Approval, ByteRange, ContentPart, CreatedBy, Event,
    EventKind, FileUpload, McpAuthRequired, McpInitialize, McpServer, McpServerAuth, MessageReset,
    MessagesSnapshot, ModelContent, ModelContentPart, ModelMessage, ModelMessageDelta, Notice, ParentCall,
    PatchOperation, RequiredActionEvent, RunningState, SandboxCreated, ServerError, SessionEvent,
    SessionRecord, StateDelta, StateKey, StateOperation, StateOperations, StateSnapshot, StopReason, Subject,
    Suspension, TerminalState, Termination, TextElement, ThreadCreated, ThreadDone, ThreadMessage,
    ThreadState, ThreadToolCall, ToolCall, ToolCallDelta, ToolCallFunction, ToolCallFunctionDelta,
    ToolCallRef, ToolCancelled, ToolInfo, ToolOutput, ToolProgress, ToolResponse, ToolResult, ToolResumed,
    ToolsRequired, TrackedPatch, TurnCreated, TurnDone, TurnInputItem, TurnMetrics, TurnRecord, TurnState,
    UnknownEvent, Usage, UsageBreakdown, UserContent,
};
use turnwire::protocol::agent_event::wire::{
    ActivityDeltaData, ActivitySnapshotData, AgentEvent, AwakenEvent, AwakenRunFinish, AwakenRunStart,
    BareFrame, Envelope, ErrorData, Frame, InferenceComplete, MessagesSnapshotData, ReasoningEncryptedValue,
    RelayError, RunFinish, RunIdentity, RunStart, StateDeltaData, StateSnapshotData, StepEnd, StepStart,
    StreamReset, SuspendTicket, TextDeltaData, TokenUsage, ToolCallCancel, ToolCallDeltaData, ToolCallDone,
    ToolCallReady, ToolCallResult, ToolCallResumed, ToolCallStart, ToolCallStreamDelta,
};

use turnwire::protocol::Capability;
use turnwire::protocol::turn_rpc::wire::{
    CapabilityKind, CompressedParams, CompressingParams, ItemAttachment, ItemDeltaParams, ItemParams,
    PromptManifest, PromptManifestDiagnostic, RecoveryAttached, RecoveryExhausted, RecoveryOf,
    RecoveryOpened, RejectedCapability, RetryBudget, RetryScheduled, SandboxPolicy, ThreadClosedParams,
    ThreadParams, TimelineChangedParams, TimeoutDetected, ToolDeltaPayload, ToolDisplay, ToolItem,
    ToolLoopBudgetExceeded, ToolOutcome, ToolRetryExhausted, ToolRetryResolved, ToolRetryScheduled,
    TreeChangedParams, TurnCapability, TurnItem, TurnParams, TurnRpcNotification, TurnRpcSessionOptions,
    TurnRpcThread, TurnRpcTurn, TurnRpcTurnOptions,
};

const HEAD: &str = "\
// Events, inputs and records, as they are on the wire. Derived from the Rust types in `src/event`, whose
// golden test writes this file: do not edit it.
";

const AGENT_EVENT_HEAD: &str = "\
// Frames of the AgentEvent protocols, as servers send them. Derived from the Rust types in
// `src/protocol/agent_event/wire.rs`, whose golden test writes this file: do not edit it.

import type {
    PatchOperation,
    Suspension,
    Termination,
    ThreadMessage,
    ThreadToolCall,
    ToolProgress,
    TrackedPatch,
} from \"./events.js\";
";

const TURN_RPC_HEAD: &str = "\
// Messages of the JSON-RPC turn gateway, as it sends them, and what it takes. Derived from the Rust types in
// `src/protocol/turn_rpc/wire`, whose golden test writes this file: do not edit it.
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
        ToolOutput,
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
        Notice,
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
        TextElement,
        ByteRange,
        FileUpload,
        Approval,
        SessionRecord,
        TurnRecord,
        SessionEvent,
    ];
    check("pkg/src/wire/events.ts", "src/event", &format!("{HEAD}\n{}", event_types()), &declarations);
}

#[test]
fn declarations_of_agent_event_are_as_reviewed() {
    let declarations = declarations![
        AgentEvent,
        Envelope,
        Frame<()>,
        BareFrame<()>,
        RelayError,
        AwakenEvent,
        RunStart,
        RunFinish,
        StepStart,
        StepEnd,
        TextDeltaData,
        ReasoningEncryptedValue,
        ToolCallStart,
        ToolCallDeltaData,
        ToolCallReady,
        ToolCallCancel,
        ToolCallStreamDelta,
        ToolCallDone,
        ToolCallResult,
        SuspendTicket,
        ToolCallResumed,
        StreamReset,
        InferenceComplete,
        TokenUsage,
        StateSnapshotData,
        StateDeltaData,
        MessagesSnapshotData,
        ActivitySnapshotData,
        ActivityDeltaData,
        ErrorData,
        AwakenRunStart,
        AwakenRunFinish,
        RunIdentity,
    ];
    let of = "src/protocol/agent_event/wire.rs";
    check("pkg/src/wire/native.ts", of, AGENT_EVENT_HEAD, &declarations);
}

#[test]
fn declarations_of_the_turn_gateway_are_as_reviewed() {
    let declarations = declarations![
        TurnRpcSessionOptions,
        TurnRpcTurnOptions,
        SandboxPolicy,
        TurnCapability,
        CapabilityKind,
        RejectedCapability,
        TurnRpcNotification,
        ThreadParams,
        ThreadClosedParams,
        TreeChangedParams,
        TurnParams,
        ItemParams,
        ItemDeltaParams,
        ToolDeltaPayload,
        TimelineChangedParams,
        ToolLoopBudgetExceeded,
        TimeoutDetected,
        RecoveryOpened,
        RecoveryAttached,
        RetryScheduled,
        RecoveryOf,
        RecoveryExhausted,
        RetryBudget,
        ToolRetryScheduled,
        ToolRetryResolved,
        ToolRetryExhausted,
        CompressingParams,
        CompressedParams,
        TurnRpcThread,
        TurnRpcTurn,
        PromptManifest,
        PromptManifestDiagnostic,
        TurnItem,
        ToolItem,
        ToolDisplay,
        ToolOutcome,
        ItemAttachment,
    ];
    check("pkg/src/wire/native-turn-rpc.ts", "src/protocol/turn_rpc/wire", TURN_RPC_HEAD, &declarations);
}

/// The list of the types of events, for the package's topics.
fn event_types() -> String {
    let names: Vec<_> = EventKind::ALL.iter().map(|(name, _)| format!("    \"{name}\",\n")).collect();
    let list =
        format!("export const EVENT_TYPES = [\n{}] as const satisfies Event[\"type\"][];\n", names.concat());
    format!("/** The types of events. @internal */\n{list}")
}

/// Whether a file holds these declarations; writes it if asked to.
fn check(file: &str, of: &str, head: &str, declarations: &[&str]) {
    let mut text = head.to_owned();
    for declaration in declarations {
        write!(text, "\n{declaration}\n").expect("a string takes any text");
    }
    // TypeScript lets no interface extend a union.
    let text = text.replace(
        "export interface AgentEventFrame extends Envelope, AgentEvent {}",
        "export type AgentEventFrame = Envelope & AgentEvent;",
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &text).expect("the file can be written");
    }
    let golden = std::fs::read_to_string(path).unwrap_or_default();
    assert!(golden == text, "{file} is not what {of} declares; UPDATE_GOLDEN=1 writes it anew");
}

const CAPABILITIES_HEAD: &str = "\
// What a server's protocol supports. Derived from the list in `src/protocol/capabilities.rs`, whose golden
// test writes this file: do not edit it.
";

/// `docs/protocols.md` has the same as a table.
#[test]
fn capabilities_are_as_reviewed() {
    let mut members = RESUME.to_owned();
    for (_, name, about) in Capability::PUBLISHED {
        let lines: Vec<_> = about.trim().lines().map(str::trim).collect();
        let comment = match *lines {
            [line] => format!("    /** {line} */\n"),
            _ => format!("    /**\n     * {}\n     */\n", lines.join("\n     * ")),
        };
        writeln!(members, "{comment}    readonly {name}: boolean;").expect("a string takes any text");
    }
    let interface = format!(
        "/** What a server's protocol supports, so that a page need not find out by failing. */\n\
         export interface Capabilities {{\n{members}}}"
    );
    let names: Vec<_> = Capability::PUBLISHED.iter().map(|(_, name, _)| *name).collect();
    let list = format!(
        "/** The names in the order of the core's numbers. @internal */\n\
         export const CAPABILITIES =\n    \"{}\";",
        names.join(" ")
    );
    let of = "src/protocol/capabilities.rs";
    check("pkg/src/wire/capabilities.ts", of, CAPABILITIES_HEAD, &[&interface, &list]);
}

const RESUME: &str = "    \
    /**
     * What happens to a turn whose connection drops. `\"cursor\"`: its stream resumes after the last event.
     * `\"history\"`: the turn continues, and its messages are read as soon as the server has them. `\"none\"`: nothing
     * more can be read, and the turn ends as `incomplete`.
     */
    readonly resume: \"cursor\" | \"history\" | \"none\";
";

#[test]
fn calls_are_numbered_alike_in_the_package() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("pkg/src/boundary/calls.ts");
    let source = std::fs::read_to_string(file).expect("the package's calls");
    let numbered: Vec<_> = source
        .lines()
        .skip_while(|line| !line.starts_with("export const enum Call {"))
        .skip(1)
        .take_while(|line| *line != "}")
        .map(|line| line.trim().trim_end_matches(','))
        .collect();
    let calls: Vec<_> = turnwire::protocol::Call::ALL.iter().map(|call| format!("{call:?}")).collect();
    assert_eq!(numbered, calls);
}

#[test]
fn protocols_are_numbered_alike_in_the_package() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("pkg/families.json");
    let source = std::fs::read_to_string(file).expect("the package's families");
    // The order matters, and an object of serde_json does not keep it.
    let mut at = 0;
    let names = turnwire::protocol::AnyProtocol::NAMES;
    for (name, family) in names {
        let rest = source.get(at..).expect("the rest");
        let found = rest.find(&format!("\"{name}\"")).unwrap_or_else(|| panic!("{name} comes next"));
        at += found + 1;
        let families: serde_json::Value = serde_json::from_str(&source).expect("JSON");
        let protocols = families[family]["protocols"].as_array().expect("a list");
        assert!(protocols.iter().any(|listed| listed == name), "{family} has {name}");
    }
    let families: serde_json::Value = serde_json::from_str(&source).expect("JSON");
    let listed = families.as_object().expect("an object").values();
    let count: usize = listed.map(|family| family["protocols"].as_array().map_or(0, Vec::len)).sum();
    assert_eq!(count, names.len());
}
