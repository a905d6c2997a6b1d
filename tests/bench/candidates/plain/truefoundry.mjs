// The baseline's TrueFoundry wire.

export class TrueFoundry {
  request(input) {
    return { path: "v1/agents/sessions/s1/turns", body: { input: [{ type: "user.message", content: input }], stream: true } };
  }

  parse(message) {
    const event = JSON.parse(message.data);
    event.sequence_number = Number(message.id);
    return event;
  }

  isLast(event) {
    return event.type === "turn.done";
  }

  textOf(event) {
    return (event.type === "model.message.delta" && event.content) || "";
  }

  apply(state, event) {
    switch (event.type) {
      case "model.message.delta":
      case "model.message":
        return merge(state, state.message(event.id, event.thread_id), event);
      case "tool.response":
        return state.respond(event.tool_call_id, { id: event.id, content: event.content, created_at: event.created_at });
      case "thread.created":
        return void state.thread(event.thread_id, event.title, event.parent);
      case "thread.done":
        return state.end(event.thread_id, event.state.status);
    }
  }
}

function merge(state, message, { content, reasoning_content, tool_calls, finish_reason, usage }) {
  if (content) state.text(message, content);
  if (reasoning_content) state.reasoning(message, reasoning_content);
  if (tool_calls) {
    for (const { index, id, function: made } of tool_calls) {
      const call = message.tool_calls[index] ?? state.call(message, index, id, made.name);
      if (made.arguments) state.arguments(call, made.arguments);
    }
  }
  if (finish_reason) state.finish(message, finish_reason, usage);
}
