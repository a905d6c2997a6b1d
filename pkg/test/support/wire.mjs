// Events as a server writes them, and their frames.

export const TIME = "2026-11-20T09:00:01.000Z";
export const SUBJECT = { subject_id: "u1", subject_type: "user", subject_slug: "ada@example.com" };

/** The beginning of a turn `t1`. */
export function created(fields = {}) {
  return {
    type: "turn.created",
    id: "ev-created",
    turn_id: "t1",
    previous_turn_id: null,
    input: [{ type: "user.message", content: "Hello" }],
    state: { status: "running" },
    created_by: SUBJECT,
    created_at: TIME,
    thread_id: null,
    ...fields,
  };
}

/** The beginning of a message. */
export function message(id = "m1", fields = {}) {
  return { type: "model.message", id, thread_id: "main", created_at: TIME, ...fields };
}

/** Any delta of a message. */
export function delta(fields, id = "m1") {
  return { type: "model.message.delta", id, thread_id: "main", ...fields };
}

/** A piece of a message's text. */
export function text(content, id = "m1") {
  return delta({ content }, id);
}

/** The end of a message. */
export function finished(finish_reason = "stop", id = "m1") {
  return delta({ finish_reason }, id);
}

/** The first piece of a tool call. */
export function call(id, name, { index = 0, args = "", message: messageId = "m1", ...more } = {}) {
  const tool_info = { type: "mcp", server_id: "srv", server_name: "Server", name };
  const piece = { index, id, type: "function", function: { name, arguments: args }, tool_info };
  return delta({ tool_calls: [piece], ...more }, messageId);
}

/** A further piece of a tool call's arguments. */
export function args(text, { index = 0, message: messageId = "m1", ...more } = {}) {
  return delta({ tool_calls: [{ index, function: { arguments: text } }], ...more }, messageId);
}

/** The result of a tool call. */
export function toolResponse(tool_call_id, content, fields = {}) {
  const id = `r-${tool_call_id}`;
  return { type: "tool.response", id, thread_id: "main", created_at: TIME, tool_call_id, content, ...fields };
}

/** Calls that wait for an approval, or with `kind` "response" for a result. */
export function required(ids, { kind = "approval", thread_id = "main", source_event_id = "m1" } = {}) {
  const tool_calls = ids.map((id) => ({ id, source_event_id }));
  return { type: `tool.${kind}_required`, id: `q-${ids}`, thread_id, created_at: TIME, tool_calls };
}

/** The end of a turn. */
export function done(state = {}) {
  return {
    type: "turn.done",
    id: "ev-done",
    state: { status: "done", output: null, required_actions: [], completed_at: TIME, ...state },
    created_at: TIME,
    thread_id: null,
  };
}

/** A whole turn that says this text, a piece per event. */
export function answer(...pieces) {
  return [created(), message(), ...pieces.map((piece) => text(piece)), finished(), done()];
}

/** A server's record of a turn. */
export function record(state = { status: "running" }, fields = {}) {
  return {
    id: "t1",
    session_id: "s1",
    previous_turn_id: null,
    input: [{ type: "user.message", content: "Hello" }],
    state,
    created_by_subject: SUBJECT,
    created_at: TIME,
    ...fields,
  };
}

/** A turn that the server has just created. */
export function recent(state, fields = {}) {
  return record(state, { created_at: new Date().toISOString(), ...fields });
}

/** The state of a turn that ended well. */
export const DONE = { status: "done", output: null, required_actions: [], completed_at: TIME };

/** The frame of one event: the data first, then the number, as the servers write it. */
export function frame(event, number) {
  const data = typeof event === "string" ? event : JSON.stringify(event);
  return `data: ${data}\n${number === undefined ? "" : `id: ${number}\n`}\n`;
}

/** The frames of events that are numbered from `first` on. */
export function frames(list, first = 1) {
  return list.map((event, at) => frame(event, first + at)).join("");
}
