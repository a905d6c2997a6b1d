// An event, or what happened between two, in one line.

import type { StreamEvent } from "turnwire";
import { missingWords } from "../connection/words";
import type { Mark } from "./EventLog";

export function threadOf(event: StreamEvent): string {
  return "thread_id" in event && typeof event.thread_id === "string" ? event.thread_id : "";
}

/** What makes this event different from its neighbours, as far as it fits a line. */
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
    case "turn.created":
      return event.turn_id;
    case "turn.done":
      return event.state.status;
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
    default:
      return "";
  }
}

/** What happened to the connection: the word for it, and what else there is to say. */
export function wordsOf({ topic, told }: Mark): readonly [word: string, rest: string] {
  switch (topic) {
    case "reconnecting":
      return ["reconnecting", `try ${told.attempt} in ${Math.round(told.delay)} ms: ${told.cause.message}`];
    case "resumed":
      return [`resumed after ${told.after}`, ""];
    case "gap":
      return ["gap", `${missingWords([told])} lost`];
    case "idle":
      return ["idle", `nothing came for ${Math.round(told.silence / 1000)} s`];
  }
}

function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
