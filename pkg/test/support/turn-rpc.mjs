// A server that speaks turn-rpc under a test's control, over real WebSockets, and records what it receives.
import { connect } from "../../dist/index.js";
import { once } from "node:events";
import { WebSocket, WebSocketServer } from "ws";
import { eventually } from "./collect.mjs";

/** A lost connection is recovered at once. */
export const QUICK = { maxAttempts: 3, baseDelay: 1, maxDelay: 5 };

/** A handler's result for a response that never comes. */
export const SILENCE = Symbol("silence");

const WORKSPACE = { id: "ws_1", name: "Default", is_active: true, is_current: true, created_at: 1, updated_at: 1 };

/** The answers of a correct server. */
const DUTIES = {
  "workspace/default": () => ({ workspace: WORKSPACE }),
  "thread/start": ({ params }) => ({ thread: thread(params.thread_id), sandbox: { mode: "FullAccess" } }),
  "thread/get": ({ params }) => ({ thread: thread(params.thread_id) }),
  "turn/start": ({ params }) => ({ turn: turn(params.turn_id) }),
  "turn/get": ({ params, server }) => (server.count("turn/start", params.turn_id) > 0 ? { thread_id: params.thread_id, workspace_id: "ws_1", turn: turn(params.turn_id) } : NO_TURN),
  "turn/items": ({ params }) => ({ ...params, workspace_id: "ws_1", events: [], last_sequence: 0 }),
  "turn/timeline": ({ params }) => ({ threadId: params.threadId, turnId: params.turnId, workspaceId: "ws_1", items: [], lastSequence: 0 }),
  "turn/cancel": ({ params }) => ({ thread_id: params.thread_id, workspace_id: "ws_1", turn: turn(params.turn_id, "Interrupted") }),
};

export const thread = (id, turns = []) => ({
  id, workspace_id: "ws_1", preview: "", mode: "Chat", model: "m", model_provider: "p", created_at: 1700000000, updated_at: 1700000000,
  status: "Idle", origin_kind: "user", sidebar_visibility: "visible", turns,
});
export const turn = (id, status = "InProgress", more = {}) => ({ id, status, turn_kind: "conversation", origin: "user", ...more });

/** An error instead of a result. */
export class Refusal {
  constructor(error) {
    this.error = error;
  }
}

const NO_TURN = new Refusal({ code: -32600, message: "turn was not found" });

export const refuse = (code, message, data) => () => new Refusal({ code, message, ...(data !== undefined && { data }) });

/**
 * Starts a server that is stopped with the test. `handlers` maps a method to a function of the request
 * `{ method, params, id, peer, count, server }`, which returns the result, a `Refusal` or `SILENCE`, or to a list, of which each
 * serves one request, the last one all others. `upgrade` returns the status that refuses a connection, if one does.
 */
export async function serveRpc(t, handlers = {}, { upgrade = () => undefined, ...options } = {}) {
  const server = new RpcServer(handlers, upgrade);
  await server.listening;
  t.after(() => server.stop());
  const clients = [];
  const dial = async (more = {}) => {
    const client = await connect({
      baseUrl: server.baseUrl, protocol: "turn-rpc", webSocket: (url) => new WebSocket(url), reconnect: QUICK, ...options, ...more,
    });
    clients.push(client);
    return client;
  };
  t.after(() => clients.forEach((client) => client.close()));
  return { server, dial, client: await dial() };
}

/** The same with a session `s1` that is known already. */
export async function serveSession(t, handlers = {}, options = {}) {
  const world = await serveRpc(t, handlers, options);
  return { ...world, session: await world.client.agents.getSession("s1") };
}

/** Real sockets, on a clock of the test's. */
export async function serveTimed(t, handlers, options) {
  const real = setTimeout;
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"], now: Date.now() });
  const rest = async () => {
    for (let round = 0; round < 5; round += 1) await new Promise((resolve) => real(resolve, 10));
  };
  const world = await serveRpc(t, handlers, options);
  const pass = async (time) => {
    t.mock.timers.tick(time);
    await rest();
  };
  /** Waits in real time. */
  const until = async (holds) => {
    while (!holds()) await new Promise((resolve) => real(resolve, 4));
  };
  return { ...world, pass, until };
}

/** Sockets whose buffered bytes the test sets; as the option `webSocket`, and a list of those that were opened. */
export function heldSockets() {
  const sockets = [];
  const webSocket = (url) => {
    const socket = new WebSocket(url);
    const own = { buffered: 0, sent: [] };
    sockets.push(own);
    return {
      get readyState() {
        return socket.readyState;
      },
      get bufferedAmount() {
        return own.buffered;
      },
      send: (text) => {
        own.sent.push(text);
        socket.send(text);
      },
      close: () => socket.close(),
      addEventListener: (...all) => socket.addEventListener(...all),
    };
  };
  return { sockets, webSocket };
}

class RpcServer {
  /** The requests: `{ method, params, id, peer, at }`. */
  requests = [];
  /** The requests for connections: `{ url, headers, at }`. */
  opens = [];
  peers = [];
  /** Received messages that are no requests. */
  others = [];
  #handlers;
  #counts = new Map();
  /** Connections that were neither accepted nor refused. */
  #undecided = [];
  #server;

  constructor(handlers, upgrade) {
    this.#handlers = { ...DUTIES, ...handlers };
    this.#server = new WebSocketServer({
      port: 0,
      host: "127.0.0.1",
      verifyClient: ({ req }, decide) => {
        this.opens.push({ url: new URL(req.url, "ws://server"), headers: req.headers, at: performance.now() });
        const status = upgrade(this.opens.length);
        if (status === "never") return void this.#undecided.push(req.socket);
        decide(status === undefined, status);
      },
    });
    this.#server.on("connection", (socket) => this.peers.push(new Peer(this, socket, this.peers.length)));
    this.listening = once(this.#server, "listening");
  }

  get baseUrl() {
    return `ws://127.0.0.1:${this.#server.address().port}/any`;
  }

  async stop() {
    for (const { socket } of this.peers) socket.terminate();
    for (const socket of this.#undecided) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** The methods of the requests, without the greetings of connections. */
  get asked() {
    return this.requests.map(({ method }) => method).filter((method) => method !== "workspace/default");
  }

  /** The number of requests with this method, of a turn if one is named. */
  count(method, turnId) {
    return this.requests.filter((request) => request.method === method && (turnId === undefined || request.params.turn_id === turnId)).length;
  }

  /** The connections that are open. */
  get open() {
    return this.peers.filter(({ socket }) => socket.readyState === WebSocket.OPEN);
  }

  /** Cuts all connections, and waits until the clients have noticed. */
  async lose() {
    for (const peer of this.peers) peer.drop();
    await new Promise((resolve) => setTimeout(resolve, 30));
  }

  /** Waits for the `number`-th request of a method. */
  until(method, number = 1) {
    return eventually(() => this.requests.filter((request) => request.method === method)[number - 1]);
  }

  async take(peer, text) {
    const { id, method, params, result } = JSON.parse(text);
    if (method === undefined || id === undefined) return void this.others.push({ id, method, params, result, peer });
    const request = { id, method, params, peer, at: performance.now() };
    this.requests.push(request);
    const count = this.#counts.get(method) ?? 0;
    this.#counts.set(method, count + 1);
    const known = this.#handlers[method];
    const handler = Array.isArray(known) ? known[Math.min(count, known.length - 1)] : known;
    const answer = handler ? await handler({ ...request, count, server: this }) : new Refusal({ code: -32601, message: `method \`${method}\` is not supported` });
    if (answer === SILENCE) return;
    if (answer instanceof Refusal) peer.fail(id, answer.error);
    else peer.reply(id, answer);
  }
}

/** A client's connection, as the server sees it. */
class Peer {
  constructor(server, socket, number) {
    this.socket = socket;
    this.number = number;
    socket.on("message", (data) => void server.take(this, String(data)));
    socket.on("error", () => {});
    this.closed = once(socket, "close");
  }

  write(value) {
    this.socket.send(typeof value === "string" || Buffer.isBuffer(value) ? value : JSON.stringify(value));
  }

  reply(id, result) {
    this.write({ jsonrpc: "2.0", id, result });
  }

  fail(id, error) {
    this.write({ jsonrpc: "2.0", id, error });
  }

  /** Sends notifications, given as `[method, params]`. */
  tell(...list) {
    for (const [method, params] of list) this.write({ jsonrpc: "2.0", method, params });
  }

  /** Cuts the connection. */
  drop() {
    this.socket.terminate();
  }
}

const base = (of) => ({ workspace_id: "ws_1", thread_id: of.thread_id, turn_id: of.turn_id });

/** Notifications of the turn that these parameters of a request name. */
export const say = (of) => ({
  begin: () => ["turn/started", { workspace_id: "ws_1", thread_id: of.thread_id, turn: turn(of.turn_id) }],
  end: (status = "Completed", more = {}) => [
    status === "Completed" ? "turn/completed" : "turn/failed",
    { workspace_id: "ws_1", thread_id: of.thread_id, turn: turn(of.turn_id, status, more) },
  ],
  start: (item) => ["item/started", { ...base(of), item }],
  complete: (item) => ["item/completed", { ...base(of), item }],
  delta: (item_id, delta, more = {}) => ["item/agent_message/delta", { ...base(of), item_id, delta, stream: "agent_message", ...more }],
  output: (item_id, delta, stream = "stdout") => ["item/command_execution/output_delta", { ...base(of), item_id, delta, stream }],
  news: (method, more) => [method, { ...base(of), ...more }],
  /** A whole answer in pieces, without beginning and end of the turn. */
  message: (id, ...pieces) => [
    say(of).start(answer(id, "")),
    ...pieces.map((piece) => say(of).delta(id, piece)),
    say(of).complete(answer(id, pieces.join(""))),
  ],
  /** The turn from its beginning to its end. */
  all: (...pieces) => [say(of).begin(), ...say(of).message("m1", ...pieces), say(of).end()],
});

export const answer = (id, text) => ({ type: "agentMessage", id, text });
export const user = (of, text) => ({ type: "userMessage", id: `user_${of.turn_id}`, text });
export const command = (id, more = {}) => ({
  type: "commandExecution", id, toolName: "exec_command", arguments: { cmd: "ls" }, status: "in_progress", command: ["ls"],
  outputPolicy: {}, display: { kind: "progress", stage: "running", metadata: {} }, storage: { kind: "none" }, ...more,
});

/** A kept event. */
export const kept = (sequence, type, fields) => ({ sequence, created_at: 1700000000, payload: { type, ...fields } });

/** Starts turns with this text at once, after the response. */
export const saying = (...pieces) => ({ params, peer, id }) => {
  peer.reply(id, { turn: turn(params.turn_id) });
  peer.tell(...say(params).all(...pieces));
  return SILENCE;
};
