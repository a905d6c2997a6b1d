// The baseline's wire of AG-UI: messages and calls by their ids, each begun, continued and ended.

export class AgUi {
  request(input) {
    const messages = [{ id: "u1", role: "user", content: input }];
    return { path: "", body: { threadId: "t1", runId: "r1", state: {}, messages, tools: [], context: [], forwardedProps: {} } };
  }

  parse({ data }) {
    return JSON.parse(data);
  }

  isLast({ type }) {
    return type === "RUN_FINISHED" || type === "RUN_ERROR";
  }

  textOf({ type, delta }) {
    return type === "TEXT_MESSAGE_CONTENT" ? delta : "";
  }

  apply(state, event) {
    switch (event.type) {
      case "TEXT_MESSAGE_START":
        return state.message(event.messageId, "main");
      case "TEXT_MESSAGE_CONTENT":
        return state.text(state.message(event.messageId, "main"), event.delta);
      case "REASONING_MESSAGE_CONTENT":
        return state.reasoning(state.message(event.messageId, "main"), event.delta);
      case "TEXT_MESSAGE_END":
        return state.finish(state.message(event.messageId, "main"), "stop", null);
      case "TOOL_CALL_START": {
        const message = state.message(event.parentMessageId ?? event.toolCallId, "main");
        return state.call(message, message.tool_calls.length, event.toolCallId, event.toolCallName);
      }
      case "TOOL_CALL_ARGS":
        return state.arguments(state.callOf(event.toolCallId), event.delta);
      case "TOOL_CALL_RESULT":
        return state.respond(event.toolCallId, { id: event.messageId, content: event.content, created_at: null });
    }
  }
}
