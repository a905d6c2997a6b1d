// The types of users that only the protocols over a socket have, and what they add to those of all protocols.
import type { TurnRpcNotification } from "../../wire/native-turn-rpc.js";

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
} from "../../wire/native-turn-rpc.js";

/** A response of the server, with the method of its request. */
export interface RpcResponse {
  /** The method of the request. */
  response_to: string;
  /** The result, if there is one. */
  result?: unknown;
  /** The error, if there is one. */
  error?: { code: number; message: string; data?: unknown };
}

declare module "../../delivery/topics.js" {
  interface NativeUnion {
    /** A notification, and a response. */
    "turn-rpc": TurnRpcNotification | RpcResponse;
  }
}
