// The wire of the Agent Application Protocol, as its reference server writes it: a name and little data. A message ends where
// a tool's result comes; calls come whole.

export const aap = {
  frames(story) {
    const frames = [frame("turn_start", {})];
    const calls = new Map();
    for (const { step, call, name, text, reason } of story) {
      if (step === "text") frames.push(frame("text_delta", { delta: text }));
      else if (step === "reasoning") frames.push(frame("thinking_delta", { delta: text }));
      else if (step === "call") calls.set(call, { name, input: "" });
      else if (step === "arguments") calls.get(call).input += text;
      else if (step === "finish" && reason === "tool_calls") {
        for (const [toolCallId, { name, input }] of calls) frames.push(frame("tool_call", { toolCallId, name, input: JSON.parse(input) }));
        calls.clear();
      } else if (step === "result") frames.push(frame("tool_result", { toolCallId: call, content: text }));
    }
    return [...frames, frame("turn_stop", { stopReason: "end_turn" })];
  },

  answer({ method, path, stream }) {
    if (method === "GET" && path.endsWith("/meta")) return Response.json({ version: 3, agents: [AGENT] });
    if (method === "POST" && path.endsWith("/sessions")) return Response.json({ sessionId: "s1" }, { status: 201 });
    if (method === "POST" && path.endsWith("/turns")) return stream();
    throw new Error(`the server in memory has no ${method} ${path}`);
  },
};

const frame = (event, data) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

const AGENT = {
  name: "support-bot",
  version: "1.0.0",
  description: "Helps",
  tools: [{ name: "read_log", description: "Reads a log", parameters: { type: "object", properties: {} } }],
  options: [],
  capabilities: { history: { full: {} }, stream: { delta: {}, message: {}, none: {} }, application: { tools: {} } },
};
