// Random schedules of faults: whatever happens in transit, the page sees the uncut turn.
import assert from "node:assert/strict";
import { test } from "node:test";
import { IS_QUICK, tellRows } from "../../tests/rows.mjs";
import { connect } from "../dist/index.js";
import { collect } from "./support/collect.mjs";
import { numbers, range } from "./support/connection.mjs";
import { args, call, created, done, finished, frame, message, record, text, toolResponse } from "./support/wire.mjs";

/** A fixed seed, so that failures repeat; the environment can set another. */
const SEED = Number(process.env.TURNWIRE_SEED ?? 20_261_121);
const ALL = 400;
const SCHEDULES = IS_QUICK ? 100 : ALL;
tellRows(SCHEDULES, ALL, "schedules");
const INPUT = [{ type: "user.message", content: "Hello" }];

const LOG = [
  created(), message(), text("Grüße, "), text("世界 🎉"), call("c1", "find"), args('{"q":'), args("1}"), finished("tool_calls"),
  toolResponse("c1", "42"), message("m2"), ...Array.from({ length: 20 }, (_, at) => text(`piece ${at} `, "m2")), finished("stop", "m2"), done(),
];

/** Numbers from 0 up to 1 that the seed decides (mulberry32). */
function randomly(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A server with one turn, whose answers fail at random, but not forever. */
class FaultyServer {
  posts = 0;
  began = false;
  #random;
  #faults;
  #hasLeftOut = false;

  constructor(random) {
    this.#random = random;
    this.#faults = 1 + Math.floor(random() * 8);
  }

  fetch = async (url, { method, body, signal }) => {
    const { pathname, search } = new URL(url);
    const path = pathname.replace(/.*\/s1/, "");
    if (path === "") return Response.json({ data: { id: "s1" } });
    // Without what is read before the start, it would be unknown whether a lost one began.
    if (path === "/turns" && search === "?limit=2") return Response.json({ data: [], pagination: {} });
    const fault = this.#faults > 0 && this.#random() < 0.8 && (this.#faults -= 1) >= 0;
    if (path === "/turns" && method === "POST") return this.#start(fault, signal);
    if (path === "/turns") return this.#maybe(fault, () => ({ data: this.began ? [this.#record()] : [], pagination: {} }));
    if (path === "/turns/t1/subscribe") return this.#stream(JSON.parse(body).after_sequence_number ?? 0, fault, signal);
    if (path === "/turns/t1") return this.#maybe(fault, () => ({ data: this.#record() }));
    throw new Error(`nobody asks for ${method} ${path}`);
  };

  #record() {
    return record({ status: "running" }, { input: INPUT, created_at: new Date().toISOString() });
  }

  #pick(...choices) {
    return choices[Math.floor(this.#random() * choices.length)];
  }

  #start(fault, signal) {
    this.posts += 1;
    if (fault && this.#random() < 0.5) {
      // What the server did not accept may be sent again; the rest is unknown.
      const status = this.#pick(429, 425, 503);
      return Response.json({ error: { message: "not now" } }, { status });
    }
    assert.equal(this.began, false, "the input was sent twice");
    this.began = true;
    if (fault && this.#random() < 0.5) return this.#failure();
    return this.#stream(0, fault, signal);
  }

  #failure() {
    return this.#pick(
      () => Promise.reject(new TypeError("the line went dead")),
      () => new Response("<!doctype html>", { headers: { "content-type": "text/html" } }),
      () => new Response("oops", { status: this.#pick(500, 502, 503, 504) }),
    )();
  }

  #maybe(fault, answer) {
    return fault && this.#random() < 0.5 ? this.#failure() : Response.json(answer());
  }

  #stream(after, fault, signal) {
    if (fault && after > 0 && this.#random() < 0.3) return this.#pick(() => this.#failure(), () => new Response("", { status: this.#pick(408, 409, 412, 429) }))();
    const first = fault && this.#random() < 0.2 ? 0 : after;
    let written = LOG.slice(first).map((event, at) => frame(event, first + at + 1));
    if (fault && this.#random() < 0.4) written = this.#mangled(written);
    const bytes = new TextEncoder().encode(written.join(""));
    const end = fault ? Math.floor(this.#random() * bytes.length) : bytes.length;
    return new Response(this.#chunks(bytes.subarray(0, end), fault && this.#pick("end", "error", "silence"), signal), {
      headers: { "content-type": "text/event-stream" },
    });
  }

  #mangled(written) {
    const at = Math.floor(this.#random() * written.length);
    const count = 1 + Math.floor(this.#random() * 3);
    const repeats = [
      () => [...written.slice(0, at + count), ...written.slice(at)],
      () => [...written.slice(0, at), ...written.slice(0, at), ...written.slice(at)],
    ];
    // Events that are missing in the same place twice count as lost.
    if (this.#hasLeftOut) return this.#pick(...repeats)();
    this.#hasLeftOut = true;
    return this.#pick(
      ...repeats,
      () => [...written.slice(0, at), ...written.slice(at + count)],
      () => [...written.slice(0, at), ...written.slice(at, at + 3).reverse(), ...written.slice(at + 3)],
    )();
  }

  /** The bytes, cut anywhere, and how it ends. */
  #chunks(bytes, how, signal) {
    let at = 0;
    return new ReadableStream({
      pull: async (controller) => {
        if (this.#random() < 0.2) await new Promise((resolve) => setImmediate(resolve));
        if (at < bytes.length) {
          const size = 1 + Math.floor(this.#random() ** 3 * 800);
          controller.enqueue(bytes.slice(at, (at += size)));
        } else if (how === "error") {
          controller.error(new TypeError("the line went dead"));
        } else if (how === "silence") {
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
        } else {
          controller.close();
        }
      },
    }, { highWaterMark: 0 });
  }
}

/** What a page shows of a turn. */
function shown(turn) {
  const { threads, status, state, error, reconnecting, last_sequence_number, required_actions } = turn.snapshot();
  return structuredClone({ threads, status, state, error, reconnecting, last_sequence_number, required_actions });
}

async function run(seed) {
  const random = randomly(seed);
  const server = new FaultyServer(random);
  const client = await connect({
    baseUrl: "http://server/acme", fetch: server.fetch, idleTimeout: 120, reconnect: { maxAttempts: 12, baseDelay: 0, maxDelay: 0 },
  });
  const turn = (await client.agents.getSession("s1")).createTurn({ input: INPUT });
  const heard = [];
  turn.on("event", ({ sequence_number }) => heard.push(sequence_number));
  const { events, error } = await collect(turn.stream());
  return { server, turn, heard, events, error };
}

test(`the same turn after ${SCHEDULES} schedules of faults (seed ${SEED})`, async () => {
  const uncut = LOG.map((event, at) => ({ ...event, sequence_number: at + 1 }));
  let expected;
  for (let at = 0; at < SCHEDULES; at += 1) {
    const { server, turn, heard, events, error } = await run(SEED + at);
    const name = `TURNWIRE_SEED=${SEED + at}`;
    assert.equal(error, undefined, `${name}: ${error}`);
    assert.deepEqual(numbers(events), range(1, LOG.length), name);
    assert.deepEqual(heard, numbers(events), name);
    assert.deepEqual(events.map((event) => event.content ?? event.type), uncut.map((event) => event.content ?? event.type), name);
    expected ??= shown(turn);
    assert.deepEqual(shown(turn), expected, name);
    assert.equal(server.began, true, name);
  }
  assert.match(expected.threads[0].messages[1].content, /^piece 0 .* piece 19 $/);
});
