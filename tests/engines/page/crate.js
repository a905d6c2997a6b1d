// Plays cases with the crate's own client, by its classes for JavaScript. They have the names of the package, so
// that both play the same cases, with the same outcomes.
import init, { Client } from "/classes/turnwire.js";
import * as turnwire from "/dist/index.js";
import { play } from "./play.js";
import { offer } from "./player.js";

await init();

/** The watchers of sessions' requests, by session id. The crate knows only the page's `fetch`. */
const watches = new Map();
const platform = globalThis.fetch;
globalThis.fetch = (request, init) => {
  const id = request instanceof Request ? /\/sessions\/([^/?]+)/.exec(request.url)?.[1] : undefined;
  const watch = watches.get(id);
  if (watch === undefined) return platform(request, init);
  return watch(request.url, request);
};

offer((plan, controller) => play((options) => connect(options, plan.session), plan, controller));

const CLASSES = {
  http: turnwire.ApiError,
  network: turnwire.ConnectionError,
  timeout: turnwire.ConnectionError,
  token: turnwire.ConnectionError,
  unexpected_response: turnwire.ProtocolError,
  frame_too_large: turnwire.ProtocolError,
  incomplete: turnwire.IncompleteError,
  turn_failed: turnwire.TurnFailedError,
};

/** An error of the crate in the package's form. */
function adopted(error) {
  if (CLASSES[error?.code] === undefined) return error;
  const { code, message, status, cause } = error;
  return new CLASSES[code](code, message, { status, ...(cause && { cause: adopted(cause) }) });
}

async function connect({ fetch: watched, ...options }, id) {
  if (watched) watches.set(id, async (url, request) => watched(url, await initOf(request)));
  const client = new Client(options);
  return { agents: { getSession: async (id) => session(await client.getSession(id).catch((error) => Promise.reject(adopted(error)))) } };
}

/** A request as the options of another one. */
async function initOf(request) {
  const { method, headers, signal } = request;
  return { method, headers, signal, ...(method !== "GET" && { body: await request.text() }) };
}

const session = (made) => ({ createTurn: ({ input }) => new Turn(made.createTurn(input)) });

/** Members of the server's JSON that the package keeps, although the types, and so the crate, leave them out. */
const withOutput = (value) => (value?.output ? { ...value, output: { ...value.output, type: "model.message" } } : value);

const withResponse = (thread_id, call) =>
  call.response ? { ...call, response: { ...call.response, thread_id, tool_call_id: call.id, type: "tool.response" } } : call;

const withResponses = (message) => ({ ...message, tool_calls: message.tool_calls.map((call) => withResponse(message.thread_id, call)) });

class Turn {
  #turn;

  constructor(turn) {
    this.#turn = turn;
  }

  get id() {
    return this.#turn.id ?? null;
  }

  get status() {
    return this.#turn.status;
  }

  on(topic, listener) {
    this.#turn.onConnection((told, detail) => {
      if (told === topic) listener({ ...detail, ...(detail.cause && { cause: adopted(detail.cause) }) });
    });
  }

  cancel() {
    return this.#turn.cancel();
  }

  snapshot() {
    const snapshot = this.#turn.snapshot();
    const threads = snapshot.threads.map((thread) => ({ ...thread, messages: thread.messages.map(withResponses) }));
    return { ...snapshot, threads, state: withOutput(snapshot.state), error: snapshot.error ? adopted(snapshot.error) : null };
  }

  /** The events, one at a time: the next one waits until the loop asks for it. */
  async *stream({ signal } = {}) {
    let handOver;
    let goOn = () => {};
    const next = () => new Promise((resolve) => (handOver = resolve));
    const stop = () => this.#turn.stop();
    if (signal?.aborted) throw new turnwire.AbortError("aborted", "the signal was aborted", { cause: signal.reason });
    let coming = next();
    signal?.addEventListener("abort", stop);
    const ended = this.#turn.stream((event) => {
      handOver({ event });
      return new Promise((resolve) => (goOn = resolve));
    });
    ended.then(() => handOver({}), (error) => handOver({ error }));
    try {
      for (;;) {
        const { event, error } = await coming;
        if (error?.code === "aborted") throw new turnwire.AbortError("aborted", "the signal was aborted", { cause: signal?.reason });
        if (error !== undefined) throw adopted(error);
        if (event === undefined) return;
        yield withOutput(event.state ? { ...event, state: withOutput(event.state) } : event);
        coming = next();
        if (signal?.aborted) handOver({ error: { code: "aborted" } });
        goOn();
      }
    } finally {
      signal?.removeEventListener("abort", stop);
      stop();
    }
  }
}
