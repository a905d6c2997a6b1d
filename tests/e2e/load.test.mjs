// The built package in a real page: it loads, it starts its core, and it says why when it cannot.
import assert from "node:assert/strict";
import { test } from "node:test";
import { useWorld } from "./harness.mjs";

const world = useWorld();

test("connect starts the core without any request of its own", async () => {
  const page = await world.page();
  const requests = [];
  page.on("request", (request) => requests.push(request.url()));
  const client = await page.evaluate(async () => {
    const connected = await turnwire.connect({ baseUrl: `${location.origin}/demo` });
    return { kind: connected.constructor.name, isClient: connected instanceof turnwire.Client };
  });
  assert.deepEqual(client, { kind: "Client", isClient: true });
  assert.deepEqual(requests, []);
  assert.deepEqual(page.failures, []);
});

test("a policy without 'wasm-unsafe-eval' is named in a typed error", async () => {
  const page = await world.page("/csp.html");
  const error = await page.evaluate(async () => {
    try {
      await turnwire.connect({ baseUrl: `${location.origin}/demo` });
      return null;
    } catch (caught) {
      const { code, message } = caught;
      return { code, message, typed: caught instanceof turnwire.TurnwireError, cause: String(caught.cause) };
    }
  });
  assert.equal(error?.code, "wasm_blocked");
  assert.equal(error.typed, true);
  assert.match(error.message, /'wasm-unsafe-eval'/);
  assert.match(error.cause, /CompileError/);
});

test("the slim entry starts from the module that the page fetches, and can be tried again", async () => {
  const page = await world.page();
  const outcome = await page.evaluate(async () => {
    const slim = await import("/dist/slim.js");
    const options = { baseUrl: `${location.origin}/demo` };
    const codeOf = (promise) => promise.then(() => "ok", (error) => error.code);
    return {
      early: await codeOf(slim.connect(options)),
      missing: await codeOf(slim.init(fetch("/dist/no-such-file.wasm"))),
      started: await codeOf(slim.init(fetch("/dist/core.wasm"))),
      connected: await codeOf(slim.connect(options)),
    };
  });
  assert.deepEqual(outcome, {
    early: "wasm_missing",
    missing: "wasm_failed",
    started: "ok",
    connected: "ok",
  });
});
