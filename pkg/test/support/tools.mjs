// Turns that call tools of the page, and the tools.
import { events } from "./server.mjs";
import { call, created, done, finished, message, required } from "./wire.mjs";

/** A call of a tool, with its arguments as text or as a JSON value. */
export const calling = (id, name, args = {}) => ({ id, name, args: typeof args === "string" ? args : JSON.stringify(args) });

/** The events of a turn that makes these calls and waits for their results, and for approval of `approvals`. */
export function pausing(calls, { id = "t1", previous = null, approvals = [], thread_id = "main", input } = {}) {
  const messageId = `m-${id}`;
  const made = [...calls, ...approvals].map((one, index) => call(one.id, one.name, { index, args: one.args, message: messageId, thread_id }));
  const ids = (list) => list.map((one) => one.id);
  const actions = [];
  if (calls.length > 0) actions.push(required(ids(calls), { kind: "response", thread_id, source_event_id: messageId }));
  if (approvals.length > 0) actions.push({ ...required(ids(approvals), { thread_id, source_event_id: messageId }), id: `a-${id}` });
  return [
    created({ turn_id: id, previous_turn_id: previous, ...(input && { input }) }),
    message(messageId, { thread_id }),
    ...made,
    finished("tool_calls", messageId),
    ...actions,
    done({ required_actions: actions }),
  ];
}

/** The events of a turn with this text, without pending calls. */
export function saying(content, { id = "t2", previous = "t1" } = {}) {
  const messageId = `m-${id}`;
  return [created({ turn_id: id, previous_turn_id: previous }), message(messageId, { content }), finished("stop", messageId), done()];
}

/** Replies with a turn that makes these calls. */
export const pauses = (...given) => events(...pausing(...given));

/** Replies with a turn that says this. */
export const says = (...given) => events(...saying(...given));

/** A tool that does this. */
export const tool = (run, more = {}) => ({ description: "A tool", run, ...more });

/** The answer to a call. */
export const give = (tool_call_id, content, thread_id = "main") => ({ type: "user.tool_response", thread_id, tool_call_id, content });

/** Allows a call. */
export const allow = (tool_call_id, thread_id = "main") => ({
  type: "user.tool_approval", thread_id, tool_call_id, approval: { status: "allow" },
});

/** Reads every turn of a run to its end; returns its turns, and the error that ended the run. */
export async function follow(run) {
  const turns = [];
  try {
    for await (const turn of run) {
      turns.push(turn);
      for await (const _ of turn.stream());
    }
    return { turns };
  } catch (error) {
    return { turns, error };
  }
}
