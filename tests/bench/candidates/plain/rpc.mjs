// The baseline's wires over a WebSocket: items that begin, grow and end.

class Items {
  turn;
  thread;

  isLast({ method }) {
    return method === "turn/completed";
  }

  started(state, item) {
    if (item.type === "agentMessage") state.message(item.id, "main");
  }

  /** What an item is when it is complete goes before what its deltas came to. */
  completed(state, item) {
    if (item.type !== "agentMessage") return;
    const message = state.message(item.id, "main");
    if (message.content !== item.text) message.content = item.text;
    state.finish(message, "stop", null);
  }
}

export class TurnRpc extends Items {
  static async greet(line) {
    await line.ask("workspace/default", {});
  }

  async open(line) {
    this.thread = newId();
    await line.ask("thread/start", { thread_id: this.thread, mode: "Chat", sandbox: "FullAccess" });
  }

  async start(line, input) {
    this.turn = newId();
    await line.ask("turn/start", { thread_id: this.thread, turn_id: this.turn, input: [{ type: "text", text: input }] });
  }

  isMine({ params }) {
    return (params.turn_id ?? params.turn?.id) === this.turn;
  }

  textOf({ method, params }) {
    return method === "item/agent_message/delta" ? params.delta : "";
  }

  apply(state, { method, params }) {
    switch (method) {
      case "item/agent_message/delta":
        return state.text(state.message(params.item_id, "main"), params.delta);
      case "item/started":
        return this.started(state, params.item);
      case "item/completed":
        return this.completed(state, params.item);
    }
  }
}

export class Codex extends Items {
  static async greet(line) {
    await line.ask("initialize", { clientInfo: { name: "bench", title: "Bench", version: "1" }, capabilities: null });
    line.notify("initialized");
  }

  async open(line) {
    const { thread } = await line.ask("thread/start", {});
    this.thread = thread.id;
  }

  async start(line, input) {
    const { turn } = await line.ask("turn/start", { threadId: this.thread, input: [{ type: "text", text: input }] });
    this.turn = turn.id;
  }

  isMine({ params }) {
    return (params.turnId ?? params.turn?.id) === this.turn;
  }

  textOf({ method, params }) {
    return method === "item/agentMessage/delta" ? params.delta : "";
  }

  apply(state, { method, params }) {
    switch (method) {
      case "item/agentMessage/delta":
        return state.text(state.message(params.itemId, "main"), params.delta);
      case "item/started":
        return this.started(state, params.item);
      case "item/completed":
        return this.completed(state, params.item);
    }
  }
}

function newId() {
  return crypto.randomUUID().replaceAll("-", "");
}
