// Nothing keeps Node alive when the calls are over: no timer, no listener, no connection.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";

const DIST = new URL("../dist/index.js", import.meta.url).href;
const SUPPORT = new URL("./support/", import.meta.url).href;

/** What every program begins with: a session on a server that is a function, and clocks of an hour. */
const PRELUDE = `
import { connect } from ${JSON.stringify(DIST)};
import { answer, frames, record, DONE } from ${JSON.stringify(`${SUPPORT}wire.mjs`)};
import { collect, failure } from ${JSON.stringify(`${SUPPORT}collect.mjs`)};
const HOUR = 3_600_000;
const WHOLE = answer("Hel", "lo");
const events = (list, first = 1) => new Response(frames(list, first), { headers: { "content-type": "text/event-stream" } });
const open = (list) => new Response(new ReadableStream({
  start: (controller) => controller.enqueue(new TextEncoder().encode(frames(list))),
}), { headers: { "content-type": "text/event-stream" } });
let reply;
const options = { connectTimeout: HOUR, idleTimeout: HOUR, reconnect: { baseDelay: 1, maxDelay: 2, maxAttempts: 2 } };
const client = await connect({
  baseUrl: "http://server/acme", ...options,
  fetch: async (url, init) => {
    if (url.endsWith("/s1")) return Response.json({ data: { id: "s1" } });
    return url.endsWith("/turns?limit=2") ? page([]) : reply(url, init);
  },
});
const session = await client.agents.getSession("s1");
const turn = session.createTurn({ input: "Hello" });
const never = () => new Promise(() => {});
const page = (items) => Response.json({ data: items, pagination: {} });
`;

const PROGRAMS = {
  "a turn was streamed": `
    reply = () => events(WHOLE);
    await collect(turn.stream({ deadline: HOUR }));`,
  "a stream was resumed": `
    reply = (url) => (url.endsWith("/turns") ? events(WHOLE.slice(0, 3)) : events(WHOLE.slice(3), 4));
    await collect(turn.stream({ deadline: HOUR }));`,
  "a loop was left": `
    reply = () => open(WHOLE.slice(0, 3));
    for await (const _ of turn.stream({ deadline: HOUR })) break;`,
  "a stream was aborted": `
    reply = () => open(WHOLE.slice(0, 3));
    const controller = new AbortController();
    const reading = collect(turn.stream({ deadline: HOUR, signal: controller.signal }));
    turn.on("event", () => controller.abort());
    await reading;`,
  "a wait for the next try was aborted": `
    reply = () => events(WHOLE.slice(0, 3));
    const controller = new AbortController();
    turn.on("reconnecting", () => controller.abort());
    await collect(turn.stream({ deadline: HOUR, signal: controller.signal, reconnect: { baseDelay: HOUR, maxDelay: HOUR } }));`,
  "all tries were used up": `
    reply = (url) => (url.endsWith("/turns") ? events(WHOLE.slice(0, 3)) : url.endsWith("/t1") ? new Response("no", { status: 502 }) : events([]));
    await collect(turn.stream({ deadline: HOUR }));`,
  "a wait for a turn that runs was aborted": `
    reply = (url) => (url.endsWith("/turns") ? events(WHOLE.slice(0, 3)) : url.endsWith("/t1") ? Response.json({ data: record() }) : events([]));
    const controller = new AbortController();
    turn.on("waiting", () => controller.abort());
    await collect(turn.stream({ deadline: HOUR, signal: controller.signal }));`,
  "a silence ended a stream": `
    reply = () => open(WHOLE.slice(0, 3));
    await collect(turn.stream({ deadline: HOUR, idleTimeout: 20, reconnect: false }));`,
  "a deadline ended a stream": `
    reply = () => open(WHOLE.slice(0, 3));
    await collect(turn.stream({ deadline: 20 }));`,
  "a connection was not made in time": `
    reply = never;
    await failure(session.getTurn("t1", { connectTimeout: 20, deadline: HOUR }));`,
  "requests were answered": `
    reply = (url) => (url.endsWith("/turns/t1") ? Response.json({ data: record(DONE) }) : page(url.includes("/events") ? [] : [record(DONE)]));
    await session.getTurn("t1", { deadline: HOUR });
    for await (const _ of session.listTurns({ deadline: HOUR })) break;
    await session.history({ deadline: HOUR });`,
  "it was waited for a turn": `
    reply = () => events(WHOLE);
    await turn.waitForCompletion({ deadline: HOUR });`,
  "a turn was found ended": `
    reply = (url, { method }) => (url.includes("/events") ? page([]) : Response.json({ data: record(method === "GET" ? DONE : undefined) }));
    await turn.state();
    await turn.state({ deadline: HOUR });`,
  "a wait was aborted": `
    reply = () => open(WHOLE.slice(0, 3));
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 50);
    await failure(turn.waitForCompletion({ deadline: HOUR, signal: controller.signal }));`,
  "a session was resumed": `
    reply = (url) => (url.endsWith("/subscribe") ? events(WHOLE) : page(url.includes("/events") ? [] : [record()]));
    const [running] = await session.resume({ deadline: HOUR });
    await running.waitForCompletion({ deadline: HOUR });`,
  "wrong options were refused": `
    reply = never;
    for (const reconnect of [true, { maxAttempts: -1 }]) {
      await failure(() => turn.stream({ deadline: HOUR, reconnect }));
      await failure(async () => turn.waitForCompletion({ deadline: HOUR, reconnect }));
    }
    await failure(() => turn.stream({ deadline: HOUR, afterSequenceNumber: -1 }));`,
};

for (const [name, program] of Object.entries(PROGRAMS)) {
  test(`Node ends when ${name}`, async () => {
    const child = spawn(process.execPath, ["--input-type=module", "-e", `${PRELUDE}${program}\nconsole.log("over");`], {
      // Anything that keeps it alive does so for an hour.
      timeout: 20_000, stdio: ["ignore", "pipe", "pipe"],
    });
    const said = [];
    for (const out of [child.stdout, child.stderr]) out.on("data", (chunk) => said.push(chunk));
    const [code, signal] = await new Promise((resolve) => child.on("close", (...how) => resolve(how)));
    assert.deepEqual([Buffer.concat(said).toString(), code, signal], ["over\n", 0, null]);
  });
}
