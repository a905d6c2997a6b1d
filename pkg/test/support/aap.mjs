// Servers of the Agent Application Protocol, and its real traffic.
import { readFileSync } from "node:fs";
import { connect } from "../../dist/index.js";
import { json, serve } from "./server.mjs";

export const META = "GET meta";
export const CREATE = "POST sessions";
export const SESSIONS = "GET sessions";
export const SESSION = "GET sessions/s1";
export const DELETE = "DELETE sessions/s1";
export const TURNS = "POST sessions/s1/turns";
export const HISTORY = "GET sessions/s1/history";

/** A lost connection is recovered at once. */
export const QUICK = { maxAttempts: 3, baseDelay: 1, maxDelay: 5 };

const parameters = { type: "object", properties: {} };

/** An agent that declares everything. */
export const AGENT = {
  name: "assistant",
  title: "Assistant",
  version: "1.0.0",
  description: "Helps",
  tools: [
    { name: "lookup", description: "Looks up", parameters },
    { name: "restart", description: "Restarts", parameters },
  ],
  options: [
    { type: "secret", name: "key", default: "" },
    { type: "select", name: "tone", default: "dry", options: ["dry", "warm"] },
  ],
  capabilities: {
    history: { full: {}, compacted: {} },
    stream: { delta: {}, message: {}, none: {} },
    application: { tools: {} },
    image: { http: {}, data: {} },
  },
};

/** The same, declaring less. */
export const declaring = (capabilities) => ({ ...AGENT, capabilities });

export const meta = (...agents) => json({ version: 3, agents });
export const history = (...messages) => json({ history: { full: messages } });

/** A message of a history. */
export const user = (content) => ({ role: "user", content });
export const assistant = (...blocks) => ({ role: "assistant", content: blocks.length === 1 && typeof blocks[0] === "string" ? blocks[0] : blocks.map((block) => (typeof block === "string" ? { type: "text", text: block } : block)) });
export const use = (toolCallId, name, input = {}) => ({ type: "tool_use", toolCallId, name, input });
export const result = (toolCallId, content) => ({ role: "tool", toolCallId, content });

/** A client of a scripted server whose only agent is this one. */
export async function serveAap(t, routes = {}, { agent = AGENT, ...options } = {}) {
  const server = await serve(t, { [META]: meta(agent), [CREATE]: json({ sessionId: "s1" }, 201), ...routes });
  const client = await connect({ baseUrl: `${server.baseUrl}/v1`, protocol: "aap", reconnect: QUICK, ...options });
  return { server, client };
}

/** The same with a new session. */
export async function serveSession(t, routes = {}, { session = {}, ...options } = {}) {
  const world = await serveAap(t, routes, options);
  return { ...world, session: await world.client.agents.createSession("assistant", session) };
}

/** A frame of a stream. */
export const frame = (event, data = {}) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/** Replies with a stream of these frames, given as `[event, data]` or as a text. */
export function turn(...list) {
  return ({ response }) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(list.map((one) => (typeof one === "string" ? frame("text_delta", { delta: one }) : frame(...one))).join(""));
  };
}

export const start = ["turn_start"];
export const stop = (stopReason = "end_turn") => ["turn_stop", { stopReason }];
export const call = (toolCallId, name, input = {}) => ["tool_call", { toolCallId, name, input }];
export const told = (toolCallId, content) => ["tool_result", { toolCallId, content }];

/** Replies with a whole turn that says this. */
export const saying = (...pieces) => turn(start, ...pieces, stop());

/** A recorded answer, its body or its stream without the head. */
export function recording(name) {
  const text = readFileSync(new URL(`../../../tests/fixtures/aap/${name}`, import.meta.url), "utf8");
  const at = text.search(/\r?\n\r?\n/);
  return /^HTTP\//.test(text) ? text.slice(at).replace(/^\r?\n\r?\n/, "") : text;
}

/** Replies with a recording. */
export function replay(name) {
  const type = name.endsWith(".sse") ? "text/event-stream" : "application/json";
  return ({ response }) => {
    response.writeHead(200, { "content-type": type });
    response.end(recording(name));
  };
}

/** The bodies of the turns that were started. */
export const sent = (server) => server.requests.filter(({ method, path }) => method === "POST" && path.endsWith("/turns")).map(({ body }) => body);
