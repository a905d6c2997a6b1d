// The baseline's wires of AgentEvent: tirea in its envelope, awaken flat. An inference is a message.

class AgentEvent {
  #message;

  request(input) {
    const [threadId, runId] = [newId(), newId()];
    return { path: "v1/runs", body: { agentId: "support-bot", threadId, runId, messages: [{ id: newId(), role: "user", content: input }] } };
  }

  parse(message) {
    return JSON.parse(message.data);
  }

  merge(state, type, data) {
    switch (type) {
      case "step_start":
        this.#message = state.message(data.message_id, "main");
        return;
      case "text_delta":
        return state.text(this.#message, data.delta);
      case "reasoning_delta":
        return state.reasoning(this.#message, data.delta);
      case "tool_call_start":
        return void state.call(this.#message, this.#message.tool_calls.length, data.id, data.name);
      case "tool_call_delta":
        return state.arguments(state.callOf(data.id), data.args_delta);
      case "tool_call_done":
        return state.respond(data.id, { id: data.message_id, content: JSON.stringify(data.result), created_at: null });
      case "inference_complete":
        return state.finish(this.#message, "stop", data.usage);
    }
  }
}

export class Tirea extends AgentEvent {
  isLast(event) {
    return event.type === "run_finish";
  }

  textOf(event) {
    return event.type === "text_delta" ? event.data.delta : "";
  }

  apply(state, event) {
    this.merge(state, event.type, event.data);
  }
}

export class Awaken extends AgentEvent {
  isLast(event) {
    return event.event_type === "run_finish";
  }

  textOf(event) {
    return event.event_type === "text_delta" ? event.delta : "";
  }

  apply(state, event) {
    this.merge(state, event.event_type, event);
  }
}

function newId() {
  return crypto.randomUUID().replaceAll("-", "");
}
