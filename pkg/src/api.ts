// Everything that the package exports, apart from how the core is loaded: by every entry.
export {
  AbortError,
  Agents,
  ApiError,
  Client,
  ConnectionError,
  IncompleteError,
  InputError,
  isEventDelta,
  mergeEventDelta,
  ModelMessageBuilder,
  ProtocolError,
  Run,
  Session,
  StateError,
  Turn,
  TurnwireError,
} from "./face.js";
export type { ListOptions, RequestOptions } from "./lists.js";
export type {
  CreateSessionOptions,
  GetSessionOptions,
  HistoryMessage,
  ListSessionsOptions,
  SearchSessionsOptions,
} from "./client.js";
export type { Capabilities } from "./capabilities.js";
export type { Agent, AgentOption, AgentSettings, ServerTool, StreamMode, ToolSpec } from "./agent.js";
export type { Clocks } from "./clocks.js";
export type { Listed, ListedEvent, Numbered, StreamEvent } from "./delivery.js";
export type { ConnectionTopics, Reconnecting, Waiting } from "./drive.js";
export type { ErrorCode, ErrorDetails } from "./errors.js";
export type { Event as TurnEvent } from "./events.js";
export type { AgentEvent, AwakenEvent, RelayError } from "./native.js";
export type {
  CapabilityKind,
  ItemAttachment,
  PromptManifest,
  PromptManifestDiagnostic,
  RejectedCapability,
  SandboxPolicy,
  ToolDeltaPayload,
  ToolDisplay,
  ToolItem,
  ToolOutcome,
  TurnCapability,
  TurnItem,
  TurnRpcNotification,
  TurnRpcSessionOptions,
  TurnRpcThread,
  TurnRpcTurn,
  TurnRpcTurnOptions,
} from "./native-turn-rpc.js";
export type * from "./events.js";
export type { MessageBase, MessageDelta } from "./merge.js";
export type { RunOptions, RunReason } from "./run.js";
export type { CreateTurnOptions, ListedSessionEvent, TurnInput } from "./session.js";
export type {
  Activity,
  MessageSnapshot,
  RequiredAction,
  ThreadSnapshot,
  ToolCallResponse,
  ToolCallSnapshot,
  TurnSnapshot,
  TurnStatus,
} from "./snapshot.js";
export type { ToolContext, ToolDefinition, Tools, ToolsOptions } from "./tools.js";
export type { TurnStream } from "./stream.js";
export type { ConnectOptions, ReconnectOptions } from "./options.js";
export type { Protocol } from "./protocols.js";
export type { Fetch } from "./fetch.js";
export type { OpenSocket, Socket } from "./transport.js";
export type { Token } from "./transport.js";
export type { AapAnswer, AapBlock, AapEvent, NativeEvent, RpcResponse, TurnTopics } from "./topics.js";
export type { ResumeOptions, StreamOptions } from "./turn.js";
