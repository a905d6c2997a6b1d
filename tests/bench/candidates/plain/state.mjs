// What a page keeps of a turn: threads, messages and calls by their ids, changed in place while events come; and
// immutable pictures of them, made anew only where something changed.

export class State {
  #threads = new Map();
  #messages = new Map();
  #calls = new Map();
  /** What has changed since the last picture. */
  #dirty = new Set();
  #dirtyThreads = new Set();
  #snapshot = { threads: [] };

  constructor() {
    this.thread("main");
  }

  thread(id, title = null, parent = null) {
    const known = this.#threads.get(id);
    if (known) return known;
    const thread = { id, title, parent, status: "running", messages: [], picture: undefined };
    this.#threads.set(id, thread);
    this.#dirtyThreads.add(thread);
    return thread;
  }

  message(id, threadId) {
    const known = this.#messages.get(id);
    if (known) return known;
    const thread = this.thread(threadId);
    const message = {
      id, thread, content: "", reasoning_content: "", tool_calls: [], finish_reason: null, usage: null, picture: undefined,
    };
    this.#messages.set(id, message);
    thread.messages.push(message);
    this.#dirty.add(message);
    return message;
  }

  text(message, text) {
    message.content += text;
    this.#dirty.add(message);
  }

  reasoning(message, text) {
    message.reasoning_content += text;
    this.#dirty.add(message);
  }

  call(message, index, id, name) {
    const call = { id, message, name, arguments: "", status: "streaming", response: null, isDirty: true, picture: undefined };
    message.tool_calls[index] = call;
    this.#calls.set(id, call);
    this.#dirty.add(message);
    return call;
  }

  callOf(id) {
    return this.#calls.get(id);
  }

  arguments(call, text) {
    call.arguments += text;
    this.#touch(call);
  }

  respond(id, response) {
    const call = this.#calls.get(id);
    if (!call) return;
    call.response = response;
    call.status = "done";
    this.#touch(call);
  }

  finish(message, reason, usage) {
    message.finish_reason = reason;
    message.usage = usage;
    for (const call of message.tool_calls) {
      call.status = "running";
      call.isDirty = true;
    }
    this.#dirty.add(message);
  }

  end(threadId, status) {
    const thread = this.thread(threadId);
    thread.status = status;
    this.#dirtyThreads.add(thread);
  }

  #touch(call) {
    call.isDirty = true;
    this.#dirty.add(call.message);
  }

  snapshot() {
    if (this.#dirty.size === 0 && this.#dirtyThreads.size === 0) return this.#snapshot;
    for (const message of this.#dirty) {
      message.picture = pictureOf(message);
      this.#dirtyThreads.add(message.thread);
    }
    for (const thread of this.#dirtyThreads) {
      const { id, title, parent, status, messages } = thread;
      thread.picture = { id, title, parent, status, messages: messages.map((message) => message.picture) };
    }
    this.#dirty.clear();
    this.#dirtyThreads.clear();
    return (this.#snapshot = { threads: [...this.#threads.values()].map((thread) => thread.picture) });
  }
}

function pictureOf(message) {
  const { id, thread, content, reasoning_content, finish_reason, usage } = message;
  const tool_calls = message.tool_calls.map((call) => {
    if (call.isDirty) {
      const { id, name, status, response } = call;
      call.picture = { id, name, arguments: call.arguments, status, response };
      call.isDirty = false;
    }
    return call.picture;
  });
  return { id, thread_id: thread.id, content, reasoning_content, tool_calls, finish_reason, usage };
}
