// A server of AG-UI by its frames: it answers each run with a list of them, and remembers what it was sent.
import { connect } from "../../dist/index.js";
import { memoryStore } from "../conversation/support.mjs";

/** An address without a server: `fetch` answers the requests. */
const BASE = "https://agents.test/run";

export const started = { type: "RUN_STARTED", threadId: "t", runId: "r", protocolVersion: "1.0" };
export const finished = (outcome) => ({ type: "RUN_FINISHED", threadId: "t", runId: "r", ...(outcome && { outcome }) });
export const says = (id, text) => [
  { type: "TEXT_MESSAGE_START", messageId: id, role: "assistant" },
  { type: "TEXT_MESSAGE_CONTENT", messageId: id, delta: text },
  { type: "TEXT_MESSAGE_END", messageId: id },
];
export const calls = (id, name, given, parentMessageId) => [
  { type: "TOOL_CALL_START", toolCallId: id, toolCallName: name, parentMessageId },
  { type: "TOOL_CALL_ARGS", toolCallId: id, delta: JSON.stringify(given) },
  { type: "TOOL_CALL_END", toolCallId: id },
];

/** The response with these frames. */
export function stream(...frames) {
  const body = frames.map((frame) => `data: ${typeof frame === "string" ? frame : JSON.stringify(frame)}\n\n`).join("");
  return new Response(body, { headers: { "content-type": "text/event-stream; charset=utf-8" } });
}

/** A whole run with these frames between its beginning and its end. */
export const run = (...frames) => stream(started, ...frames, finished());

/**
 * A client whose server gives these responses, one for each run. `sent` are the bodies of the requests; `requests` are the
 * requests themselves.
 */
export async function serveRuns(responses, options = {}) {
  const [sent, requests] = [[], []];
  const store = options.store ?? memoryStore();
  const fetch = async (url, init) => {
    requests.push({ url, init });
    sent.push(JSON.parse(init.body));
    const response = responses.shift();
    return typeof response === "function" ? response(init) : response;
  };
  const client = await connect({ baseUrl: BASE, protocol: "ag-ui", fetch, store, ...options });
  return { client, sent, requests, store, base: BASE, reconnected: () => connect({ baseUrl: BASE, protocol: "ag-ui", fetch, store }) };
}
