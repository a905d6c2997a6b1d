// A fake agent server for tests: no network, scripted agents, each protocol, and the faults of bad connections.
import type { Protocol } from "../boundary/protocols.js";
import type { TextStore } from "../common/store.js";
import { FAKES } from "./fakes.js";
import { type Faults, parseFaults } from "./faults.js";
import { FakeHttp, type FakeRequest } from "./http.js";
import type { Script } from "./script.js";
import { demand } from "./threads.js";
import { FakeSockets } from "./socket.js";
import { World } from "./world.js";

export type { FakeRequest } from "./http.js";
export type { AgentStep, Answer, FileStep, Script, ScriptTurn, Step, Steps, ToolStep } from "./script.js";

/** The options of `fakeServer`. */
export interface FakeServerOptions {
  /** The server's protocol. Default: `"truefoundry"`. */
  protocol?: Protocol | undefined;
  /** The pause before each step of a script, in milliseconds. Default: 0, no timer is used. */
  delay?: number | undefined;
  /**
   * The names of the agents, for protocols whose servers list them: AAP accepts no others. Default: `["agent"]`. Other protocols accept
   * every name.
   */
  agents?: readonly string[] | undefined;
}

/** The options of `connect` for a fake server. */
export interface FakeConnection {
  /** A URL without a server. */
  baseUrl: string;
  /** The server's protocol. */
  protocol: Protocol;
  /** Replaces the platform's `fetch`. */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /** Replaces the platform's `WebSocket`. */
  webSocket(url: string): WebSocket;
  /** The store for conversations that the server does not keep, for pages after a reload. */
  store: TextStore;
}

/** A server whose agents play a script. It lives in the page or the test, and need not be closed. */
export class FakeServer {
  /** The options for `connect`, to combine with your own. */
  readonly connection: FakeConnection;
  /** The requests so far, in order. */
  readonly requests: FakeRequest[] = [];
  readonly #world: World;
  readonly #faults: Faults[] = [];
  readonly #way: FakeHttp | FakeSockets;

  constructor(script: Script, { protocol = "truefoundry", delay = 0, agents = ["agent"] }: FakeServerOptions = {}) {
    const fake = FAKES[protocol];
    if (!fake) throw new TypeError(`there is no protocol \`${protocol}\``);
    this.#world = new World(script, delay, agents, (given, isInner) => demand(given, fake, protocol, isInner));
    const next = () => this.#faults.shift() ?? {};
    const unused = (name: string) => () => {
      throw new Error(`${protocol} does not use \`${name}\``);
    };
    if ("routes" in fake) {
      const baseUrl = "https://agents.test/fake";
      const http = new FakeHttp(baseUrl, fake.routes(this.#world), this.requests, next);
      this.#way = http;
      this.connection = { baseUrl, protocol, fetch: http.fetch, webSocket: unused("webSocket"), store: memoryStore() };
    } else {
      const sockets = new FakeSockets(fake.speak(this.#world), this.requests, next);
      this.#way = sockets;
      this.connection = { baseUrl: "wss://agents.test/fake", protocol, fetch: unused("fetch"), webSocket: sockets.open, store: memoryStore() };
    }
  }

  /** The agents' script. A change applies to later turns. */
  get script(): Script {
    return this.#world.script;
  }

  /** Replaces the script for later turns. */
  set script(script: Script) {
    this.#world.script = script;
  }

  /**
   * Plans the faults of the next connections that carry a turn, one text for each: `fail("reset:3", "status:503", "none")`.
   * Several faults of one connection are joined by `+`. They have the names and numbers of the development gateway's.
   * Throws a `TypeError` for a fault that does not exist.
   */
  fail(...faults: string[]): void {
    this.#faults.push(...faults.map((text) => parseFaults(text, this.#way instanceof FakeSockets)));
  }

  /** Breaks all open connections. */
  disconnect(): void {
    this.#way.disconnect();
  }
}

function memoryStore(): TextStore {
  const texts = new Map<string, string>();
  return { get: (key) => texts.get(key) ?? null, set: (key, text) => void texts.set(key, text), remove: (key) => void texts.delete(key) };
}

/** Creates a server with a script: a text, steps, or a function of the turn that yields steps. */
export function fakeServer(script: Script, options?: FakeServerOptions): FakeServer {
  return new FakeServer(script, options);
}
