// The relay of the development gateway before a server that admits no page, and pages in a real browser: those
// that may use it, and those of others, which must be refused in every way.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { startRelay, useWorld } from "./harness.mjs";

const KEY = "Bearer of-the-relay";
/** A host whose pages are of another site. */
const FOREIGN = "foreign.test";
const COOKIE = "session=of-another-port";

const www = mkdtempSync(join(tmpdir(), "turnwire-e2e-"));
writeFileSync(join(www, "index.html"), '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>page</title>');
after(() => rmSync(www, { recursive: true, force: true }));
const world = useWorld({ www, hosts: [FOREIGN] });

/** A server as an agent's: it serves programs that know the key, and refuses requests with an origin. `heard` grows. */
async function startServer(t) {
  const heard = [];
  const judge = ({ method, url, headers }) => {
    heard.push({ method, url, headers });
    if (headers.origin !== undefined) return "403 Forbidden";
    return headers.authorization === KEY ? undefined : "401 Unauthorized";
  };
  const server = createServer((request, response) => {
    const refused = judge(request);
    response.writeHead(refused === undefined ? 200 : Number.parseInt(refused, 10), { "set-cookie": "left=http" });
    response.end("done");
  });
  server.on("upgrade", (request, socket) => {
    const refused = judge(request);
    socket.on("error", () => {});
    if (refused !== undefined) return socket.end(`HTTP/1.1 ${refused}\r\nContent-Length: 0\r\n\r\n`);
    const accept = createHash("sha1").update(`${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`);
    socket.write(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
        `Sec-WebSocket-Accept: ${accept.digest("base64")}\r\nSet-Cookie: left=socket\r\n\r\n`,
    );
    // One message of text.
    socket.write(Buffer.concat([Buffer.from([0x81, 5]), Buffer.from("hello")]));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { address: `127.0.0.1:${server.address().port}`, heard };
}

/** A server, and a relay before it that lets in the pages of `origins`. */
async function startBoth(t, origins, port) {
  const server = await startServer(t);
  const argv = origins.flatMap((origin) => ["--allow-origin", origin]);
  const relay = await startRelay(`ws://${server.address}`, { port, argv, variables: { TURNWIRE_RELAY_AUTHORIZATION: KEY } });
  t.after(relay.stop);
  return { server, url: relay.url, socket: relay.url.replace("http:", "ws:") };
}

/** A page of this machine, or of another site. */
async function openPage(t, host = "127.0.0.1") {
  const page = await world.page();
  t.after(() => page.context().close());
  await page.goto(world.url.replace("127.0.0.1", host));
  assert.equal(await page.evaluate(() => location.hostname), host);
  return page;
}

/** A sandboxed frame in a page of another site. */
async function openFrame(t) {
  const page = await openPage(t, FOREIGN);
  await page.evaluate(() => {
    const frame = document.createElement("iframe");
    frame.sandbox = "allow-scripts";
    frame.srcdoc = "<title>frame</title>";
    const loaded = new Promise((resolve) => (frame.onload = resolve));
    document.body.append(frame);
    return loaded;
  });
  const frame = page.frames()[1];
  assert.equal(await frame.evaluate(() => origin), "null");
  return frame;
}

/** Runs in the page: the first message of a WebSocket, or that there is none. */
const dial = (url) =>
  new Promise((resolve) => {
    const socket = new WebSocket(url);
    socket.onmessage = ({ data }) => {
      socket.close();
      resolve(data);
    };
    socket.onerror = () => resolve("refused");
  });

/** Runs in the page: the results of a request without a preflight, and of one with it. */
const ask = async (url) => {
  const post = (path, options) => fetch(url + path, { method: "POST", ...options });
  const image = () =>
    new Promise((resolve) => {
      const image = new Image();
      image.onload = image.onerror = () => resolve("ended");
      image.src = `${url}/image`;
    });
  const text = (answer) => answer.then((response) => response.text()).catch(() => "refused");
  return {
    simple: await text(post("/simple", { body: "text" })),
    json: await text(post("/json", { body: "{}", headers: { "content-type": "application/json" } })),
    blind: await text(post("/blind", { mode: "no-cors", credentials: "include" })),
    read: await text(fetch(`${url}/read`, { mode: "no-cors", credentials: "include" })),
    image: await image(),
  };
};

const NOTHING = { simple: "refused", json: "refused", blind: "", read: "", image: "ended" };

test("a page of this machine is admitted, with the key and without its origin and its cookies", async (t) => {
  const { server, url, socket } = await startBoth(t, []);
  const page = await openPage(t);
  await page.evaluate((cookie) => (document.cookie = cookie), COOKIE);
  assert.equal(await page.evaluate(dial, `ws://${server.address}`), "refused");
  const [direct] = server.heard.splice(0);
  assert.equal(direct.headers.origin, world.url);
  assert.equal(direct.headers.cookie, COOKIE);

  assert.equal(await page.evaluate(dial, socket), "hello");
  const { simple, json, blind } = await page.evaluate(ask, url);
  assert.deepEqual({ simple, json, blind }, { simple: "done", json: "done", blind: "" });
  assert.ok(server.heard.length >= 4);
  for (const { headers } of server.heard) {
    assert.equal(headers.authorization, KEY);
    assert.equal(headers.origin, undefined);
    assert.equal(headers.cookie, undefined);
  }
  assert.equal(await page.evaluate(() => document.cookie), COOKIE);
});

test("a page of another site does not", async (t) => {
  for (const origins of [[], [world.url], ["null"]]) {
    const { server, url, socket } = await startBoth(t, origins);
    const page = await openPage(t, FOREIGN);
    assert.equal(await page.evaluate(dial, socket), "refused");
    assert.deepEqual(await page.evaluate(ask, url), NOTHING);
    assert.deepEqual(server.heard, []);
  }
});

test("a page of another site is admitted once it is named", async (t) => {
  const { socket } = await startBoth(t, [world.url.replace("127.0.0.1", FOREIGN)]);
  const page = await openPage(t, FOREIGN);
  assert.equal(await page.evaluate(dial, socket), "hello");
  const own = await openPage(t);
  assert.equal(await own.evaluate(dial, socket), "refused");
});

test("a sandboxed frame opens no WebSocket, whatever is allowed", async (t) => {
  for (const origins of [[], ["null"], ["*"], ["null", "*", world.url.replace("127.0.0.1", FOREIGN)]]) {
    const { server, url, socket } = await startBoth(t, origins);
    const frame = await openFrame(t);
    assert.equal(await frame.evaluate(dial, socket), "refused");
    assert.deepEqual(server.heard, []);
    const { simple } = await frame.evaluate(ask, url);
    assert.equal(simple, origins.length > 0 ? "done" : "refused");
    assert.ok(server.heard.every(({ headers }) => headers.upgrade === undefined));
  }
});

test("a page whose name resolves to the relay after it was loaded is refused", async (t) => {
  for (const origins of [["*"], [world.url], []]) {
    const site = createServer((_, response) => response.setHeader("content-type", "text/html").end("<title>page</title>"));
    site.listen(0, "127.0.0.1");
    await once(site, "listening");
    const { port } = site.address();
    const page = await openPage(t);
    await page.goto(`http://${FOREIGN}:${port}/`);
    site.close();
    site.closeAllConnections();
    // To the browser, the relay is now the page's own origin.
    const { server } = await startBoth(t, origins, port);
    const read = await page.evaluate(async () => {
      const response = await fetch("/read");
      return [response.status, await response.text()];
    });
    assert.equal(read[0], 403);
    assert.match(read[1], /by localhost/);
    assert.equal(await page.evaluate(dial, `ws://${FOREIGN}:${port}`), "refused");
    assert.deepEqual(server.heard, []);
  }
});
