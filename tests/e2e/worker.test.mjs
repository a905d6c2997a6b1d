// `turnwire/worker`: the worker sends and reads, the page has the same turns; and the page reads where no worker may run.
import assert from "node:assert/strict";
import { test } from "node:test";
import { CHROMIUM_ONLY, useWorld } from "./harness.mjs";

const world = useWorld();
const TEXT = /^Here is a plain answer.*not a word is lost or said twice\.$/s;

/** Runs inside of the page: a turn by this entry, over a connection with these faults. */
async function say({ fault, given }) {
  const { connect } = await import("/dist/worker.js");
  const asked = [];
  const options = given ? { fetch: (url, init) => (asked.push(url), fetch(url, init)) } : {};
  const client = await connect({ baseUrl: "/demo", headers: { "x-turnwire-fault": fault, "x-turnwire-delay-ms": "0" }, ...options });
  const turn = (await client.agents.createSession("support-bot")).createTurn("plain");
  await turn.waitForCompletion();
  return { status: turn.status, text: turn.snapshot().threads[0].messages[0].content, asked: asked.length };
}

test("a turn whose connection breaks is whole", async () => {
  const page = await world.page();
  const { status, text } = await page.evaluate(say, { fault: "reset:9" });
  assert.equal(status, "done");
  assert.match(text, TEXT);
});

test("all clients share one worker; the page itself asks nothing", CHROMIUM_ONLY, async () => {
  const page = await world.page();
  const workers = [];
  page.on("worker", (worker) => workers.push(worker.url()));
  await page.evaluate(() => (globalThis.fetch = () => Promise.reject(new Error("the page asked"))));
  for (let round = 0; round < 2; round += 1) assert.match((await page.evaluate(say, { fault: "reset:9" })).text, TEXT);
  assert.equal(workers.length, 1);
  assert.match(workers[0], /^blob:/);
});

test("a `fetch` of the page's own is used in place of the worker", async () => {
  const page = await world.page();
  const { text, asked } = await page.evaluate(say, { fault: "reset:9", given: true });
  assert.match(text, TEXT);
  assert.ok(asked >= 3, `${asked} requests`);
});

for (const policy of ["worker-src 'none'", "worker-src blob:; require-trusted-types-for 'script'"]) {
  test(`under \`${policy}\` the page reads by itself`, CHROMIUM_ONLY, async () => {
    const page = await world.page("/", (blank) =>
      blank.route(/\/$/, async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, headers: { ...response.headers(), "content-security-policy": policy } });
      }),
    );
    const workers = [];
    page.on("worker", (worker) => workers.push(worker.url()));
    const { status, text } = await page.evaluate(say, { fault: "reset:9" });
    assert.equal(status, "done");
    assert.match(text, TEXT);
    assert.equal(workers.length, 0);
  });
}

test("a left loop and an aborted wait end their requests, and the turn can be read again", async () => {
  const page = await world.page();
  const seen = await page.evaluate(async () => {
    const { connect } = await import("/dist/worker.js");
    const client = await connect({ baseUrl: "/demo", headers: { "x-turnwire-delay-ms": "20" } });
    const session = await client.agents.createSession("support-bot");
    const first = session.createTurn("plain");
    for await (const event of first.stream()) if (event.type === "model.message.delta") break;
    await first.cancel();
    const controller = new AbortController();
    const second = session.createTurn("plain");
    const aborted = second.waitForCompletion({ signal: controller.signal }).catch((error) => error.code);
    setTimeout(() => controller.abort(), 100);
    const code = await aborted;
    await second.waitForCompletion();
    return { first: first.status, code, second: second.status, text: second.snapshot().threads[0].messages[0].content };
  });
  assert.deepEqual([seen.code, seen.second], ["aborted", "done"]);
  assert.match(seen.text, TEXT);
});

test("a slow reader gets every event of a long answer", async () => {
  const page = await world.page();
  const read = await page.evaluate(async () => {
    const { connect } = await import("/dist/worker.js");
    const client = await connect({ baseUrl: "/demo", headers: { "x-turnwire-delay-ms": "0" } });
    const turn = (await client.agents.createSession("support-bot")).createTurn("long");
    let deltas = 0;
    for await (const event of turn.stream()) {
      deltas += event.type === "model.message.delta" ? 1 : 0;
      // A slow reader.
      if (deltas % 1_000 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return { deltas, status: turn.status };
  });
  assert.equal(read.status, "done");
  assert.ok(read.deltas >= 20_000, `${read.deltas} deltas`);
});
