// Everything that the package exports, apart from how the core is loaded.
export type { ListOptions, RequestOptions } from "./lists.js";
export {
  Agents,
  Client,
  connect,
  type CreateSessionOptions,
  type GetSessionOptions,
  type HistoryMessage,
  type ListSessionsOptions,
  type SearchSessionsOptions,
} from "./client.js";
export type { Capabilities } from "./capabilities.js";
export type { Agent, AgentOption, AgentSettings, ServerTool, StreamMode, ToolSpec } from "./agent.js";
export type { Clocks } from "./clocks.js";
export type { Listed, ListedEvent, Numbered, StreamEvent } from "./delivery.js";
export type { ConnectionTopics, Reconnecting, Waiting } from "./drive.js";
export {
  AbortError,
  ApiError,
  ConnectionError,
  type ErrorCode,
  type ErrorDetails,
  IncompleteError,
  InputError,
  ProtocolError,
  StateError,
  TurnwireError,
} from "./errors.js";
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
export { isEventDelta, mergeEventDelta, ModelMessageBuilder, type MessageBase, type MessageDelta } from "./merge.js";
export { Run, type RunOptions, type RunReason } from "./run.js";
export { type CreateTurnOptions, type ListedSessionEvent, Session, type TurnInput } from "./session.js";
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
export type { OpenSocket, Socket } from "./line.js";
export type { Token } from "./transport.js";
export type { AapAnswer, AapBlock, AapEvent, NativeEvent, RpcResponse, TurnTopics } from "./topics.js";
export { type ResumeOptions, type StreamOptions, Turn } from "./turn.js";
