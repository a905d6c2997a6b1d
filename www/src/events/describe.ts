// An event, or an event of the connection, in one line.

import type { NativeEvent, PatchOperation, StreamEvent, ToolCallRef, Waiting } from "turnwire";
import { missingWords } from "../connection/words";
import type { Mark } from "./EventLog";

export function threadOf(event: StreamEvent): string {
  return "thread_id" in event && typeof event.thread_id === "string" ? event.thread_id : "";
}

/** The distinctive content of this event, as far as it fits a line. */
export function gistOf(event: StreamEvent): string {
  switch (event.type) {
    case "model.message.delta": {
      if (event.content) return quote(event.content);
      if (event.reasoning_content) return `thought ${quote(event.reasoning_content)}`;
      const call = event.tool_calls?.[0];
      if (call) return call.function?.name || quote(call.function?.arguments ?? "");
      return event.finish_reason ?? "";
    }
    case "tool.response":
      return quote(event.content);
    case "tool.output":
      return `${event.stream} ${quote(event.delta)}`;
    case "notice":
      return event.message ? `${event.code}: ${event.message}` : event.code;
    case "tool.approval_required":
    case "tool.response_required":
      return event.tool_calls.map(askedIn).join(", ");
    case "tool.resumed":
      return quote(typeof event.result === "string" ? event.result : jsonOf(event.result));
    case "tool.cancelled":
    case "message.reset":
      return event.reason;
    case "state.snapshot":
      return jsonOf(event.snapshot);
    case "state.delta":
      return patchWords(event.delta);
    case "messages.snapshot":
      return `${event.messages.length} messages`;
    case "activity.snapshot":
      return activityWords(event.content) || event.activity_type;
    case "activity.delta":
      return patchWords(event.patch);
    case "server.error":
      return event.code ? `${event.code}: ${event.message}` : event.message;
    case "model.message":
      return event.continues ? `goes on after ${event.continues}` : "";
    case "turn.created":
      return event.turn_id;
    case "turn.done":
      return endWords(event.state);
    case "thread.created":
    case "thread.done":
      return event.title ?? "";
    case "mcp.initialize":
    case "mcp.auth_required":
      return event.mcp_servers.map((server) => server.name).join(", ");
    case "sandbox.created":
      return event.sandbox_id;
    case "unknown":
      return event.wire_type ?? "";
  }
}

/** The type of a frame, under any of the names that servers have for it. */
export function frameType(frame: NativeEvent): string {
  const { event_type, type, event, method, response_to, stopReason } = frame as Partial<Record<(typeof NAMES)[number], string>>;
  // An answer that is not streamed has no type, but a stop reason.
  return event_type ?? type ?? event ?? method ?? response_to ?? stopReason ?? "";
}

/** The content of a frame besides its type, as received. */
export function frameGist(frame: NativeEvent): string {
  const name = NAMES.find((name) => name in frame);
  const isMessage = name === "method" || name === "response_to";
  const fields = Object.entries(frame).filter(([key]) => key !== name && !(isMessage && ENVELOPE.has(key)));
  const [only] = fields;
  const isData = name !== undefined && fields.length === 1 && only !== undefined && INNER[name] === only[0];
  return jsonOf(isData ? only[1] : Object.fromEntries(fields));
}

/** The fields of every JSON-RPC message. */
const ENVELOPE: ReadonlySet<string> = new Set(["jsonrpc", "id", "emittedAtMs"]);

/** The field with the rest of a frame, by the field of its type. */
const INNER: Readonly<Record<string, string>> = { event: "data", method: "params", response_to: "result" };

/** The servers' names for the type of a frame. */
const NAMES = ["event_type", "type", "event", "method", "response_to", "stopReason"] as const;

function askedIn({ id, name, suspension }: ToolCallRef): string {
  return suspension?.message ?? name ?? id;
}

function endWords(state: Extract<StreamEvent, { type: "turn.done" }>["state"]): string {
  if (state.status === "error" && state.code) return `${state.status}: ${state.code}`;
  const { termination } = state;
  const why = typeof termination?.value === "object" ? termination.value.code : termination?.type;
  return why ? `${state.status}: ${why}` : state.status;
}

function patchWords(patch: readonly PatchOperation[]): string {
  return patch.map(({ op, path }) => `${op} ${path}`).join(", ");
}

/** The progress of an activity, and its message. */
function activityWords(content: Extract<StreamEvent, { type: "activity.snapshot" }>["content"]): string {
  const { tool_name, status, message, progress } = content;
  const share = typeof progress === "number" && progress <= 1 ? `${Math.round(progress * 100)} %` : "";
  return [tool_name, share || status, message].filter((part) => typeof part === "string" && part !== "").join(" · ");
}

/** The longest line, in UTF-16 units. */
const LINE = 200;

function jsonOf(value: unknown): string {
  const json = JSON.stringify(value) ?? "";
  return json.length > LINE ? `${json.slice(0, LINE)}…` : json;
}

/** What turnwire waits for while the server can be reached. */
const AWAITED: Readonly<Record<Waiting["for"], string>> = {
  turn: "the turn's end, which is not streamed",
  history: "the answer in the session's history",
  events: "the rest of the turn's events",
};

/** An event of the connection: its label and its details. */
export function wordsOf({ topic, told }: Mark): readonly [word: string, rest: string] {
  switch (topic) {
    case "reconnecting":
      return ["reconnecting", `try ${told.attempt} in ${Math.round(told.delay)} ms: ${told.cause.message}`];
    case "waiting":
      return ["waiting", `for ${AWAITED[told.for]}`];
    case "resumed":
      return [`resumed after ${told.after}`, ""];
    case "gap":
      return ["gap", `${missingWords([told])} lost`];
    case "mismatch":
      return ["mismatch", `id ${told.id}, in the JSON ${told.sequence_number}`];
    case "idle":
      return ["idle", `nothing came for ${Math.round(told.silence / 1000)} s`];
  }
}

function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
