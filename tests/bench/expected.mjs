// What a story comes to, for the check that all candidates made the same of it.

/** All text of the story's pieces, in order. */
export function textOf(story) {
  return story.map(({ step, text }) => (step === "text" ? text : "")).join("");
}

/** The story as a snapshot would have it, in a form that can be compared. */
export function shapeOf(story) {
  const threads = new Map([["main", []]]);
  const messages = new Map();
  const calls = new Map();
  for (const { step, thread, message: id, index, call: callId, text } of story) {
    const message = messages.get(id);
    if (step === "thread") threads.set(thread, []);
    else if (step === "message") {
      const opened = { content: "", reasoning: "", calls: [] };
      messages.set(id, opened);
      threads.get(thread).push(opened);
    } else if (step === "text") message.content += text;
    else if (step === "reasoning") message.reasoning += text;
    else if (step === "call") calls.set(callId, (message.calls[index] = { arguments: "", response: null }));
    else if (step === "arguments") message.calls[index].arguments += text;
    else if (step === "result") calls.get(callId).response = text;
  }
  return JSON.stringify([...threads.values()]);
}

/** A snapshot in the same form. */
export function shapeOfSnapshot({ threads }) {
  const shapes = threads.map(({ messages }) =>
    messages.map(({ content, reasoning_content, tool_calls }) => ({
      content,
      reasoning: reasoning_content,
      calls: tool_calls.map((call) => ({ arguments: call.arguments, response: call.response?.content ?? null })),
    })),
  );
  return JSON.stringify(shapes);
}
