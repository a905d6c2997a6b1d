// A relay that knows users by their cookies, and pages in Chromium: one that may call, one of the same site that may not, one of
// another site, and a sandboxed frame. What must be refused is refused however a page asks, and nothing of it reaches the agent.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Relay, WITH_RELAY } from "../../pkg/test/support/relay.mjs";
import { ENGINE, useWorld } from "./harness.mjs";

/** A host whose pages are of another site. */
const FOREIGN = "foreign.test";
const SKIP = { skip: WITH_RELAY.skip || (ENGINE !== "chromium" && "one engine is enough: it is the relay that refuses") };

const www = mkdtempSync(join(tmpdir(), "turnwire-relay-pages-"));
writeFileSync(join(www, "index.html"), '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>page</title>');
after(() => rmSync(www, { recursive: true, force: true }));
const world = useWorld({ www, hosts: [FOREIGN] });

/** Starts a server of this test; `answer` returns `[status, headers, body]`. `heard` has the requests. */
async function serve(answer) {
  const heard = [];
  const server = createServer((request, response) => {
    const { method, url, headers } = request;
    heard.push({ method, path: url.split("?")[0], cookie: headers.cookie });
    const [status, head = {}, body = ""] = answer(heard.at(-1), headers);
    response.writeHead(status, head);
    // A stream goes on.
    if (head["content-type"] === "text/event-stream") response.write(body);
    else response.end(body);
  });
  server.on("upgrade", ({ headers, url }, socket) => {
    heard.push({ method: "SOCKET", path: url.split("?")[0], cookie: headers.cookie });
    const accept = createHash("sha1").update(`${headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`);
    socket.on("error", () => {});
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept.digest("base64")}\r\n\r\n`);
    // One message of text.
    socket.write(Buffer.concat([Buffer.from([0x81, 5]), Buffer.from("hello")]));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, heard, stop };
}

const json = (value) => [200, { "content-type": "application/json" }, JSON.stringify(value)];
const STREAM = [200, { "content-type": "text/event-stream" }, "event: turn_start\ndata: {}\n\n"];

/** The agent of all upstreams: two sessions and two turns, all of which are made here. */
const agent = ({ method, path }) => {
  if (method === "POST" && path === "/aap/sessions") return json({ sessionId: "s1" });
  if (method === "GET" && path === "/aap/sessions") return json({ sessions: [{ sessionId: "s1" }] });
  if (method === "POST" && path === "/aap/sessions/s1/turns") return STREAM;
  // A thread that is new to the agent; it exists once it has a run.
  if (method === "GET" && path === "/tirea/v1/threads/t1") return [404];
  if (method === "GET" && path === "/tirea/v1/threads") return json({ items: ["t1"] });
  if (method === "POST" && path === "/tirea/v1/runs") return STREAM;
  if (path === "/tirea/v1/runs/r1") return json({ run_id: "r1", thread_id: "t1" });
  return json({});
};

/** Knows users by the cookie `user`. */
const identity = (_, { cookie = "" }) => {
  const [, user] = /\buser=(\w+)/.exec(cookie) ?? [];
  return user === undefined ? [401] : [200, { "x-user": user }];
};

const config = ({ agents, users, origins }) => ({ port }) => `
listen = "127.0.0.1:${port}"
origins = ${JSON.stringify(origins)}
[identity.forward]
url = "${users}/whoami"
header = "x-user"
[upstream.aap]
protocol = "aap"
url = "${agents}/aap"
[upstream.tirea]
protocol = "tirea"
url = "${agents}/tirea"
[upstream.rpc]
protocol = "turn-rpc"
url = "${agents}/rpc"
sessions = "open"
`;

/** A page with the cookies of a user, at this address. */
async function openPage(t, url, user) {
  const page = await world.page();
  t.after(() => page.context().close());
  await page.context().addCookies([{ name: "user", value: user, domain: "127.0.0.1", path: "/" }]);
  await page.goto(url);
  return page;
}

/** A sandboxed frame in a page. */
async function frameIn(page) {
  await page.evaluate(() => {
    const frame = document.createElement("iframe");
    frame.sandbox = "allow-scripts allow-forms";
    frame.srcdoc = "<title>frame</title>";
    const loaded = new Promise((resolve) => (frame.onload = resolve));
    document.body.append(frame);
    return loaded;
  });
  const frame = page.frames()[1];
  assert.equal(await frame.evaluate(() => origin), "null");
  return frame;
}

/** Runs in the page: every way in which it can make a request. Returns what the page receives by each. */
const askAll = async (url) => {
  const OURS = { "turnwire-relay": "1" };
  const JSON_BODY = { "content-type": "application/json" };
  const credentials = "include";
  const status = (answer) => answer.then(({ status, type }) => (type === "opaque" ? "opaque" : status)).catch(() => "refused");
  const post = (path, options) => status(fetch(url + path, { method: "POST", credentials, ...options }));
  const start = { headers: { ...OURS, ...JSON_BODY, "turnwire-turn": "other" }, body: '{"stream":"delta","messages":[]}' };
  const form = (enctype) =>
    new Promise((resolve) => {
      const target = document.createElement("iframe");
      target.name = `form-${enctype}`;
      document.body.append(target);
      const form = Object.assign(document.createElement("form"), { method: "post", action: `${url}/aap/sessions`, enctype, target: target.name });
      form.append(Object.assign(document.createElement("input"), { name: '{"a":"', value: '"}' }));
      document.body.append(form);
      target.onload = () => resolve("sent");
      form.submit();
      setTimeout(() => resolve("sent"), 1000);
    });
  const source = () =>
    new Promise((resolve) => {
      const source = new EventSource(`${url}/aap/_turnwire/v1/turns/first/events`, { withCredentials: true });
      const end = (what) => {
        source.close();
        resolve(what);
      };
      source.addEventListener("turn_start", () => end("read"));
      source.onerror = () => end("refused");
    });
  const socket = () =>
    new Promise((resolve) => {
      const socket = new WebSocket(`${url.replace("http:", "ws:")}/rpc`);
      socket.onmessage = ({ data }) => {
        socket.close();
        resolve(data);
      };
      socket.onerror = () => resolve("refused");
    });
  const image = () =>
    new Promise((resolve) => {
      const image = new Image();
      image.onload = image.onerror = () => resolve("ended");
      image.src = `${url}/aap/sessions/s1`;
    });
  return {
    read: await status(fetch(`${url}/aap/sessions/s1`, { headers: OURS, credentials })),
    readBare: await status(fetch(`${url}/aap/sessions/s1`, { credentials })),
    readBlind: await status(fetch(`${url}/aap/sessions/s1`, { credentials, mode: "no-cors" })),
    create: await post("/aap/sessions", { headers: { ...OURS, ...JSON_BODY }, body: "{}" }),
    createSimple: await post("/aap/sessions", { body: "{}" }),
    createBlind: await post("/aap/sessions", { body: "{}", mode: "no-cors" }),
    forms: [await form("application/x-www-form-urlencoded"), await form("text/plain")],
    start: await post("/aap/sessions/s1/turns", start),
    startBlind: await post("/aap/sessions/s1/turns", { body: start.body, mode: "no-cors" }),
    stop: await status(fetch(`${url}/aap/_turnwire/v1/turns/first`, { method: "DELETE", headers: OURS, credentials })),
    remove: await status(fetch(`${url}/aap/sessions/s1`, { method: "DELETE", headers: OURS, credentials })),
    beacon: navigator.sendBeacon(`${url}/aap/sessions`, "{}"),
    source: await source(),
    socket: await socket(),
    image: await image(),
  };
};

/** What a page that may not call receives. */
const NOTHING = {
  read: "refused", readBare: "refused", readBlind: "opaque", create: "refused", createSimple: "refused", createBlind: "opaque",
  forms: ["sent", "sent"], start: "refused", startBlind: "opaque", stop: "refused", remove: "refused", beacon: true,
  source: "refused", socket: "refused", image: "ended",
};

/** Runs in the page: makes a session and a turn of each protocol. */
const begin = async (url) => {
  const headers = { "turnwire-relay": "1", "content-type": "application/json" };
  const post = (path, body, more) => fetch(url + path, { method: "POST", credentials: "include", headers: { ...headers, ...more }, body: JSON.stringify(body) });
  await post("/aap/sessions", { agent: { name: "a" } });
  const one = await post("/aap/sessions/s1/turns", { stream: "delta", messages: [{ role: "user", content: "Hi" }] }, { "turnwire-turn": "first" });
  const two = await post("/tirea/v1/runs", { agentId: "a", threadId: "t1", runId: "r1", messages: [{ role: "user", content: "Hi" }] }, { "turnwire-turn": "r1" });
  return [one.status, two.status];
};

/** Runs in the page: the status and the code of each request, in their order. */
const statuses = (requests) => {
  const ask = async ([method, url, body]) => {
    const headers = { "turnwire-relay": "1", "turnwire-turn": "mine", ...(body && { "content-type": "application/json" }) };
    const response = await fetch(url, { method, headers, credentials: "include", body: body && JSON.stringify(body) });
    return [response.status, await response.text()];
  };
  return Promise.all(requests.map(ask));
};

describe("a relay that knows users by their cookies", SKIP, () => {
  let agents;
  let users;
  let other;
  let relay;
  /** Where the pages are: which may call, which is of the same site and may not, and which is of another site. */
  let places;

  before(async () => {
    agents = await serve(agent);
    users = await serve(identity);
    other = await serve(() => [200, { "content-type": "text/html" }, "<!doctype html><title>page</title>"]);
    relay = await Relay.open(config({ agents: agents.url, users: users.url, origins: [world.url] }));
    places = { own: world.url, sibling: other.url, foreign: world.url.replace("127.0.0.1", FOREIGN) };
  });
  after(async () => {
    await relay?.close();
    for (const server of [agents, users, other]) server?.stop();
  });

  test("the page that may call is admitted with the relay's header, and not without", async (t) => {
    const page = await openPage(t, places.own, "ada");
    assert.deepEqual(await page.evaluate(begin, relay.url), [200, 200]);
    agents.heard.splice(0);
    const got = await page.evaluate(askAll, relay.url);
    // Without the header, which no page sends unasked, there is nothing for this page either.
    const expected = {
      ...NOTHING, read: 200, readBare: 403, create: 200, createSimple: 403, start: 200, stop: 202, socket: "hello", remove: 200,
    };
    assert.deepEqual(got, expected);
    const heard = agents.heard.map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(heard, [
      "GET /aap/sessions/s1", "POST /aap/sessions", "POST /aap/sessions/s1/turns", "DELETE /aap/sessions/s1", "SOCKET /rpc",
    ]);
    assert.deepEqual(agents.heard.filter(({ cookie }) => cookie !== undefined), [], "no cookie reaches the agent");
  });

  test("pages that may not call get nothing, and their requests reach neither the agent nor the users' server", async (t) => {
    const ada = await openPage(t, places.own, "ada");
    assert.deepEqual(await ada.evaluate(begin, relay.url), [200, 200]);
    for (const place of ["sibling", "foreign", "frame"]) {
      const page = await openPage(t, places[place] ?? places.foreign, "ada");
      const asking = place === "frame" ? await frameIn(page) : page;
      // Of a page of the same site, the browser does send the cookie: it is the relay that refuses.
      other.heard.splice(0);
      await asking.evaluate((url) => fetch(url, { method: "POST", mode: "no-cors", credentials: "include", body: "{}" }), other.url);
      assert.equal(other.heard.at(-1).cookie, place === "sibling" ? "user=ada" : undefined, place);
      agents.heard.splice(0);
      users.heard.splice(0);
      assert.deepEqual(await asking.evaluate(askAll, relay.url), NOTHING, place);
      assert.deepEqual([agents.heard, users.heard], [[], []], place);
    }
    const turns = await ada.evaluate(statuses, [["GET", `${relay.url}/aap/_turnwire/v1/turns?session=s1&state=open`]]);
    assert.deepEqual(JSON.parse(turns[0][1]).turns.map(({ id }) => id), ["first"], "the turn still runs");
  });

  test("a second user sees nothing of the first, on any route", async (t) => {
    const ada = await openPage(t, places.own, "ada");
    assert.deepEqual(await ada.evaluate(begin, relay.url), [200, 200]);
    const eve = await openPage(t, places.own, "eve");
    agents.heard.splice(0);
    const start = { stream: "delta", messages: [{ role: "user", content: "Hi" }] };
    const run = { agentId: "a", threadId: "t1", runId: "r2", messages: [] };
    const closed = [
      ["GET", "/aap/sessions/s1"], ["DELETE", "/aap/sessions/s1"], ["GET", "/aap/sessions/s1/history"], ["POST", "/aap/sessions/s1/turns", start],
      ["GET", "/aap/_turnwire/v1/turns/first/events"], ["DELETE", "/aap/_turnwire/v1/turns/first"],
      ["GET", "/tirea/v1/threads/t1"], ["DELETE", "/tirea/v1/threads/t1"], ["PATCH", "/tirea/v1/threads/t1/metadata", {}],
      ["POST", "/tirea/v1/threads/t1/interrupt", {}], ["GET", "/tirea/v1/threads/t1/messages"], ["GET", "/tirea/v1/runs?thread_id=t1"],
      ["POST", "/tirea/v1/runs", run], ["GET", "/tirea/v1/runs/r1"], ["POST", "/tirea/v1/runs/r1/inputs", { decisions: [] }],
      ["POST", "/tirea/v1/runs/r1/cancel", {}],
      ["GET", "/tirea/_turnwire/v1/turns/r1/events"], ["DELETE", "/tirea/_turnwire/v1/turns/r1"],
    ];
    const at = ([method, path, body]) => [method, relay.url + path, body];
    const refused = await eve.evaluate(statuses, closed.map(at));
    closed.forEach(([method, path], index) => {
      const [status, text] = refused[index];
      assert.deepEqual([status, JSON.parse(text).code], [404, "not_found"], `${method} ${path}`);
    });
    const lists = ["/aap/sessions", "/aap/_turnwire/v1/turns?session=s1", "/tirea/v1/threads", "/tirea/_turnwire/v1/turns?session=t1"];
    const listed = await eve.evaluate(statuses, lists.map((path) => at(["GET", path])));
    assert.deepEqual(listed.map(([, text]) => JSON.parse(text)), [{ sessions: [] }, { turns: [] }, { items: [] }, { turns: [] }]);
    // The agent was asked for lists, which the relay filters, and for a run's owner.
    const allowed = ["GET /aap/sessions", "GET /tirea/v1/threads", "GET /tirea/v1/runs/r1"];
    const heard = agents.heard.map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(heard.filter((request) => !allowed.includes(request)), []);
    // Signed out, it is 401 everywhere.
    await eve.context().clearCookies();
    const out = await eve.evaluate(statuses, closed.map(at));
    assert.deepEqual([...new Set(out.map(([status]) => status))], [401]);
  });
});
