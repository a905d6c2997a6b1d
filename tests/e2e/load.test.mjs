// The built package in a real page: it loads, it starts its core, and it says why when it cannot.
import assert from "node:assert/strict";
import { test } from "node:test";
import { NOT_WEBKIT, useWorld } from "./harness.mjs";

const world = useWorld();

test("an entry with its core inside starts it without any request", async () => {
  const page = await world.page();
  await page.evaluate(() => import("/dist/truefoundry.js"));
  const requests = [];
  page.on("request", (request) => requests.push(request.url()));
  const client = await page.evaluate(async () => {
    const { connect } = await import("/dist/truefoundry.js");
    const connected = await connect({ baseUrl: `${location.origin}/demo` });
    return { kind: connected.constructor.name, isClient: connected instanceof turnwire.Client };
  });
  assert.deepEqual(client, { kind: "Client", isClient: true });
  assert.deepEqual(requests, []);
  assert.deepEqual(page.failures, []);
});

test("a family's core is loaded on first use, once", NOT_WEBKIT, async () => {
  const page = await world.page();
  const requests = [];
  page.on("request", (request) => requests.push(new URL(request.url()).pathname));
  const resumes = await page.evaluate(async () => {
    const connect = (protocol) => turnwire.connect({ baseUrl: `${location.origin}/demo`, protocol });
    const clients = await Promise.all(["tirea", "awaken", "truefoundry", "tirea", "aap"].map(connect));
    return clients.map(({ capabilities }) => capabilities.resume);
  });
  assert.deepEqual(resumes, ["none", "history", "cursor", "none", "history"]);
  const files = ["aap-core", "aap-session", "agent-event-core", "agent-event-session", "path-history", "truefoundry-core"];
  assert.deepEqual(requests.sort(), files.map((name) => `/dist/${name}.js`));
  assert.deepEqual(page.failures, []);
});

test("a core that cannot be fetched is named in a typed error, and the others work", NOT_WEBKIT, async () => {
  const page = await world.page("/", (blank) => blank.route("**/agent-event-core.js", (route) => route.abort()));
  const { code, message, typed, other } = await page.evaluate(async () => {
    const baseUrl = `${location.origin}/demo`;
    const error = await turnwire.connect({ baseUrl, protocol: "tirea" }).catch((caught) => caught);
    const { protocol } = await turnwire.connect({ baseUrl });
    return { code: error.code, message: error.message, typed: error instanceof turnwire.TurnwireError, other: protocol };
  });
  assert.equal(code, "wasm_failed");
  assert.equal(typed, true);
  assert.match(message, /could not be loaded/);
  assert.equal(other, "truefoundry");
});

for (const protocol of ["truefoundry", "tirea", "aap"]) {
  test(`${protocol}: a policy without 'wasm-unsafe-eval' is named in a typed error`, async () => {
    const page = await world.page("/csp.html");
    const error = await page.evaluate(async (spoken) => {
      try {
        await turnwire.connect({ baseUrl: `${location.origin}/demo`, protocol: spoken });
        return null;
      } catch (caught) {
        const { code, message } = caught;
        return { code, message, typed: caught instanceof turnwire.TurnwireError, cause: String(caught.cause) };
      }
    }, protocol);
    assert.equal(error?.code, "wasm_blocked");
    assert.equal(error.typed, true);
    assert.match(error.message, /'wasm-unsafe-eval'/);
    assert.match(error.cause, /CompileError/);
  });
}

test("turnwire/nowasm works under a policy that forbids WebAssembly", async () => {
  const page = await world.page("/csp.html");
  const { status, text, error } = await page.evaluate(async () => {
    const error = await turnwire.connect({ baseUrl: `${location.origin}/demo` }).catch(({ code }) => code);
    const { connect } = await import("/dist/nowasm.js");
    const client = await connect({ baseUrl: `${location.origin}/demo`, headers: { "x-turnwire-fault": "reset:9", "x-turnwire-delay-ms": "0" } });
    const turn = (await client.agents.createSession("support-bot")).createTurn("plain");
    await turn.waitForCompletion();
    return { status: turn.status, text: turn.snapshot().threads[0].messages[0].content, error };
  });
  assert.equal(error, "wasm_blocked");
  assert.equal(status, "done");
  assert.match(text, /^Here is a plain answer.*not a word is lost or said twice\.$/s);
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
      others: await Promise.all(["tirea", "aap", "ag-ui"].map((protocol) => codeOf(slim.connect({ ...options, protocol })))),
    };
  });
  assert.deepEqual(outcome, {
    early: "wasm_missing",
    missing: "wasm_failed",
    started: "ok",
    connected: "ok",
    others: ["ok", "ok", "ok"],
  });
});

test("after a trap of the core, its session goes on in another one", async () => {
  const page = await world.page();
  const told = await page.evaluate(async () => {
    let isDue = false;
    let started = 0;
    const { Instance } = WebAssembly;
    WebAssembly.Instance = function (module) {
      const instance = new Instance(module);
      // That is not a core: it makes a core's module.
      if ("unpack" in instance.exports) return instance;
      started += 1;
      const exports = { ...instance.exports };
      for (const [name, value] of Object.entries(exports)) {
        if (typeof value !== "function") continue;
        exports[name] = (...given) => {
          if (!isDue) return value(...given);
          isDue = false;
          throw new WebAssembly.RuntimeError("unreachable");
        };
      }
      return { exports };
    };
    const client = await turnwire.connect({ baseUrl: `${location.origin}/demo`, headers: { "x-turnwire-delay-ms": "5" } });
    const session = await client.agents.createSession("support-bot");
    const broken = session.createTurn("plain");
    broken.on("model.message.delta", () => (isDue = started === 1));
    const error = await broken.waitForCompletion().then(() => null, (caught) => caught);
    const turn = session.createTurn("plain");
    await turn.waitForCompletion();
    const { content } = turn.snapshot().threads[0].messages[0];
    return { code: error?.code, same: broken.snapshot().error === error, status: turn.status, text: content, started };
  });
  assert.deepEqual({ ...told, text: "" }, { code: "internal", same: true, status: "done", text: "", started: 2 });
  assert.match(told.text, /^Here is a plain answer.*not a word is lost or said twice\.$/s);
  assert.deepEqual(page.failures, []);
});
