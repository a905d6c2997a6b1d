// Servers of the AgentEvent protocols: their runs, threads and real traffic.
import { readdirSync, readFileSync } from "node:fs";
import { connect } from "../../dist/index.js";
import { json, serve } from "./server.mjs";

export const START = "POST runs";
export const RUN = "GET runs/*";
export const RUNS = { tirea: "GET runs", awaken: "GET threads/*/runs" };
export const LATEST = "GET threads/*/runs/latest";
export const THREAD = "GET threads/*";
export const MESSAGES = "GET threads/*/messages";
export const INPUTS = "POST runs/*/inputs";
export const DECISION = "POST runs/*/decision";
export const CANCEL = "POST runs/*/cancel";
export const INTERRUPT = "POST threads/*/interrupt";
export const STREAM = "GET runs/*/events/stream";
export const EVENTS = "GET runs/*/events";

/** A lost connection is recovered at once. */
export const QUICK = { maxAttempts: 3, baseDelay: 1, maxDelay: 5 };

/** Its time, in milliseconds, and in turnwire's form. */
export const MS = 1_795_255_327_046;
export const TIME = new Date(MS).toISOString();

/** A client of a scripted server, and a session that has no turns yet. */
export async function serveAgent(t, protocol, routes = {}, options = {}) {
  const server = await serve(t, routes);
  const client = await connect({ baseUrl: server.baseUrl, protocol, reconnect: QUICK, ...options });
  return { server, client, session: await client.agents.createSession("assistant") };
}

/** The same with a turn that says "Hello". */
export async function serveRun(t, protocol, start, routes = {}, options = {}) {
  const world = await serveAgent(t, protocol, { [START]: start, ...routes }, options);
  return { ...world, turn: world.session.createTurn({ input: "Hello" }) };
}

const FOLDER = new URL("../../../tests/fixtures/agent-event/", import.meta.url);

/** The streams that were recorded of a protocol's server. */
export function recordings(protocol) {
  return readdirSync(new URL(`${protocol}/`, FOLDER)).filter((name) => name.endsWith(".sse")).map((name) => name.slice(0, -4)).sort();
}

/** A recorded stream's text. */
export function recording(protocol, name) {
  return readFileSync(new URL(`${protocol}/${name}.sse`, FOLDER), "utf8");
}

/** The frames of a recording. */
export function framesOf(text) {
  return text.split("\n").filter((line) => line.startsWith("data:")).map((line) => JSON.parse(line.slice(5)));
}

/** Replies with a recording, of the run that was asked for, in pieces of this many bytes. */
export function replay(protocol, name, size = Infinity) {
  return ({ request, response }) => {
    const bytes = Buffer.from(own(recording(protocol, name), request.body));
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (let at = 0; at < bytes.length; at += size) response.write(bytes.subarray(at, at + size));
    response.end();
  };
}

/** A recording with the ids of the request; awaken makes the run's id itself. */
export function own(text, body) {
  const [first] = framesOf(text);
  const { run_id, thread_id } = first;
  if (body.parentRunId) text = text.replace(/.*/, `data: ${JSON.stringify({ ...first, data: { parent_run_id: body.parentRunId } })}`);
  return text.replaceAll(JSON.stringify(thread_id), JSON.stringify(body.threadId)).replaceAll(JSON.stringify(run_id), JSON.stringify(body.runId ?? run_id));
}

/** One frame of a stream, in the form of a protocol. */
export function frame(protocol, type, data) {
  const value = protocol === "awaken" ? { event_type: type, ...data } : { type, ...(data && { data }) };
  return `data: ${JSON.stringify(value)}\n\n`;
}

/** The frames of a run `r1`, or of the requested one. */
export function frames(protocol, list, body = {}) {
  const ids = { run_id: body.runId ?? "r1", thread_id: body.threadId ?? "s1" };
  return list.map(([type, data]) => {
    if (protocol === "awaken") return frame(protocol, type, /^run_/.test(type) ? { ...ids, identity: ids, ...data } : data);
    const told = type === "run_start" && body.parentRunId ? { parent_run_id: body.parentRunId, ...data } : data;
    const value = { type, ...(/^run_/.test(type) && ids), ...(told && { data: told }) };
    return `data: ${JSON.stringify(value)}\n\n`;
  }).join("");
}

/** Replies with a run of these frames, given as `[type, data]`, which then ends by `end`. */
export function runOf(protocol, list, end = (response) => response.end()) {
  return ({ request, response }) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(frames(protocol, list, request.body), () => setTimeout(end, 5, response));
  };
}

export const begin = (parent) => ["run_start", parent && { parent_run_id: parent }];
export const step = (id = "m1") => ["step_start", { message_id: id }];
export const say = (delta) => ["text_delta", { delta }];
export const complete = () => ["inference_complete", { model: "mock-1", duration_ms: 3 }];
export const finish = (type = "natural_end", more = {}) => ["run_finish", { termination: { type }, ...more }];

/** A whole run with this text. */
export function answer(...pieces) {
  return [begin(), step(), ...pieces.map(say), complete(), ["step_end"], finish("natural_end", { result: { response: pieces.join("") } })];
}

/** A call as it is made, with its arguments. */
export function calling(id, name, args = {}) {
  return [["tool_call_start", { id, name }], ["tool_call_ready", { id, name, arguments: args }]];
}

/** The pending state of a call. */
export function suspended(id, name, mode = "replay_tool_call", args = {}) {
  const pending = mode === "replay_tool_call" ? `fc_${id}` : id;
  return {
    call_id: id,
    tool_name: name,
    arguments: args,
    pending: { id: pending, name, arguments: args },
    resume_mode: mode,
    suspension: { id: pending, action: `tool:${name}`, message: `May ${name} run?` },
  };
}

/** A tirea state in which these calls wait. */
export function waitingState(...calls) {
  const scopes = calls.map((call) => [call.call_id, { suspended_call: call, tool_call_state: { status: "suspended" } }]);
  return { notes: ["kept"], __tool_call_scope: Object.fromEntries(scopes) };
}

/** A run in which these calls wait. */
export function pausing(protocol, ...calls) {
  const made = calls.flatMap(({ call_id, tool_name, arguments: args }) => calling(call_id, tool_name, args));
  if (protocol === "tirea") {
    return [begin(), step(), ...made, complete(), ["step_end"], ["state_snapshot", { snapshot: waitingState(...calls) }], finish("suspended")];
  }
  const done = calls.map(({ call_id, tool_name, suspension, pending, resume_mode }) => {
    const result = { tool_name, status: "pending", data: null, message: "waits", suspension: { suspension, pending, resume_mode } };
    return ["tool_call_done", { id: call_id, message_id: "", outcome: "suspended", result }];
  });
  return [begin(), step(), ...made, complete(), ...done, ["step_end"], finish("suspended")];
}

/** A run as its server keeps it, by default one that is done. */
export function runRecord(fields = {}) {
  return {
    run_id: "r1",
    thread_id: "s1",
    agent_id: "assistant",
    origin: "user",
    status: "done",
    termination_code: "natural",
    created_at: MS,
    updated_at: MS,
    input_tokens: 42,
    output_tokens: 17,
    ...fields,
  };
}

/** Replies with the record of the requested run. */
export function recordOf(fields = {}) {
  return ({ request, response }) => json(runRecord({ run_id: request.path.split("/")[1], ...fields }))({ request, response });
}

/** Replies with a page of a list. */
export function items(list, more = {}) {
  return json({ items: list, total: list.length, has_more: false, ...more });
}

/** Replies with a page of messages. */
export function messagePage(messages, more = {}) {
  return json({ messages, has_more: false, ...more });
}

/** A stored message. */
export function stored(cursor, role, content, more = {}) {
  return { cursor, role, content, id: `x${cursor}`, ...more };
}
