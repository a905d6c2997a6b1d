// The wires of AgentEvent: tirea 0.5, each event in an envelope, and awaken 0.6, flat. One inference is a message; its
// call and the result come after it.
const MS = 1_795_256_938_669;
const MODEL = "mock-1";
/** What an inference says when it is complete. */
const COMPLETE = {
  tirea: { duration_ms: 4, model: MODEL, usage: { cache_read_tokens: 8, completion_tokens: 17, prompt_tokens: 42, thinking_tokens: 4, total_tokens: 59 } },
  awaken: { model: MODEL, usage: { prompt_tokens: 42, completion_tokens: 17, total_tokens: 59, cache_read_tokens: 8, thinking_tokens: 4 }, duration_ms: 4 },
};
const RESULT = { tirea: {}, awaken: { status: "done", status_reason: "natural" } };
/** In place of the ids that a request brings. */
const RUN = "0123456789abcdef0123456789abcdef";
const THREAD = "fedcba9876543210fedcba9876543210";

/** The wire in one of its two dialects. */
const wireOf = (dialect, frame) => ({
  frames(story) {
    const list = [["run_start", {}, null]];
    const threads = new Map();
    let step = -1;
    let last = "";
    for (const one of story) {
      const { message, text, call, name } = one;
      if (one.step === "message") {
        step += 1;
        threads.set(message, "");
        list.push(["step_start", { message_id: `01a1fda6-f0ad-76c3-81bd-${message.slice(-12)}` }, step]);
      } else if (one.step === "text") {
        last = threads.get(message) + text;
        threads.set(message, last);
        list.push(["text_delta", { delta: text }, step]);
      } else if (one.step === "reasoning") list.push(["reasoning_delta", { delta: text }, step]);
      else if (one.step === "call") list.push(["tool_call_start", { id: call, name }, step]);
      else if (one.step === "arguments") list.push(["tool_call_delta", { args_delta: text, id: call }, step]);
      else if (one.step === "finish") {
        list.push(["inference_complete", COMPLETE[dialect], step], ["step_end", {}, step]);
      } else throw new Error(`AgentEvent's stories here have no ${one.step}`);
    }
    list.push(["run_finish", { result: { response: last, ...RESULT[dialect] }, termination: { type: "natural_end" } }, null]);
    return list.map((event, at) => `data: ${JSON.stringify(frame(event, at))}\n\n`);
  },

  /** A frame of the run that a request asks for. */
  own: (frame, { runId = RUN, threadId }) => frame.replaceAll(RUN, runId).replaceAll(THREAD, threadId),

  answer({ method, path, stream }) {
    if (method === "POST" && /\/runs$/.test(path)) return stream();
    throw new Error(`the server in memory has no ${method} ${path}`);
  },
});

export const tirea = wireOf("tirea", ([type, data, step], seq) => ({
  type,
  run_id: RUN,
  thread_id: THREAD,
  seq,
  timestamp_ms: MS + seq,
  ...(step !== null && { step_id: `step:${step}` }),
  ...(Object.keys(data).length > 0 && { data }),
}));

export const awaken = wireOf("awaken", ([event_type, data]) => {
  const identity = { thread_id: THREAD, run_id: RUN, agent_id: "default", dispatch_id: "01a1fd9e-1433-7263-8689-401ac4f3fcb6", session_id: "01a1fd9e-144e-7683-9878-cbf35bf19f5c", origin: "user" };
  return { event_type, ...(event_type.startsWith("run_") && { thread_id: THREAD, run_id: RUN, identity }), ...data };
});
