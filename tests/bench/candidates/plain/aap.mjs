// The baseline's wire of the Agent Application Protocol: a message is what comes between two results of tools.

export class Aap {
  #message;
  #count = 0;

  request(input) {
    return { path: "sessions/s1/turns", body: { stream: "delta", messages: [{ role: "user", content: input }] } };
  }

  parse({ event, data }) {
    return { event, data: JSON.parse(data) };
  }

  isLast({ event }) {
    return event === "turn_stop";
  }

  textOf({ event, data }) {
    return event === "text_delta" ? data.delta : "";
  }

  apply(state, { event, data }) {
    switch (event) {
      case "text_delta":
        return state.text(this.#open(state), data.delta);
      case "thinking_delta":
        return state.reasoning(this.#open(state), data.delta);
      case "tool_call": {
        const message = this.#open(state);
        const call = state.call(message, message.tool_calls.length, data.toolCallId, data.name);
        return state.arguments(call, JSON.stringify(data.input));
      }
      case "tool_result":
        state.respond(data.toolCallId, { id: data.toolCallId, content: data.content, created_at: null });
        this.#message = undefined;
        return;
      case "turn_stop":
        if (this.#message) state.finish(this.#message, data.stopReason, null);
    }
  }

  #open(state) {
    this.#message ??= state.message(`message-${(this.#count += 1)}`, "main");
    return this.#message;
  }
}
