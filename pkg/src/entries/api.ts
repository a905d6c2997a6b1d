// The exports of every entry, except those that load the core.
export {
  AbortError,
  Agents,
  allow,
  ApiError,
  Client,
  ConnectionError,
  deny,
  IncompleteError,
  InputError,
  isEventDelta,
  mergeEventDelta,
  ModelMessageBuilder,
  ProtocolError,
  respond,
  Run,
  Session,
  StateError,
  Turn,
  TurnFailedError,
  TurnwireError,
} from "../client/face.js";
export type { ListOptions, RequestOptions } from "../transport/lists.js";
export type {
  CreateSessionOptions,
  GetSessionOptions,
  ListSessionsOptions,
  SearchSessionsOptions,
} from "../client/client.js";
export type { Capabilities } from "../wire/capabilities.js";
export type { KeptSettings, PriorMessages, PriorMessageUnion, SessionSettings } from "../client/settings.js";
export type { Agent, AgentOption, AgentSettings, ServerTool, StreamMode } from "../client/agent.js";
export type { ToolSpec } from "../tools/spec.js";
export type { Clocks } from "../transport/clocks.js";
export type { Listed, ListedEvent, Numbered, StreamEvent } from "../delivery/delivery.js";
export type { ConnectionTopics, Reconnecting, Waiting } from "../delivery/connection-topics.js";
export type { Readable } from "../common/readable.js";
export type { ErrorCode, ErrorDetails } from "../common/errors.js";
export type { Event as TurnEvent } from "../wire/events.js";
export type * from "../wire/events.js";
export type * from "./families/types.js";
export type { MessageBase, MessageDelta } from "../snapshot/merge.js";
export type { RunOptions, RunReason } from "../tools/run.js";
export type { CreateTurnOptions, TurnInput } from "../turn/options.js";
export type { History, HistoryOptions } from "../client/history.js";
export type { SettledTurn } from "../turn/settled.js";
export type { AllowOptions } from "../turn/replies.js";
export type { ListedSessionEvent } from "../client/session.js";
export type {
  Activity,
  MessageSnapshot,
  ApprovalAction,
  AuthorizationAction,
  RequiredAction,
  ResponseAction,
  ThreadSnapshot,
  ToolCallResponse,
  ToolCallSnapshot,
  TurnSnapshot,
  TurnStatus,
} from "../snapshot/snapshot.js";
export type { ToolContext, ToolDefinition, Tools, ToolsOptions } from "../tools/tools.js";
export type { TurnStream } from "../delivery/stream.js";
export type { ConnectOptions } from "../client/options.js";
export type { ReconnectOptions } from "../common/reconnect.js";
export type { TextStore } from "../common/store.js";
export type { Protocol } from "../boundary/protocols.js";
export type { Fetch } from "../transport/platform.js";
export type { OpenSocket, Socket } from "../transport/platform.js";
export type { Token } from "../transport/platform.js";
export type { NativeEvent, NativeUnion, TurnTopics } from "../delivery/topics.js";
export type { ResumeOptions, StreamOptions } from "../turn/options.js";
