// What the real server does, and what the relay does for it: the facts that the package relies on.
import assert from "node:assert/strict";
import { FOREIGN } from "../world.mjs";

/** What happens to a plain WebSocket of the page. */
const dial = (url) =>
  new Promise((resolve) => {
    const socket = new WebSocket(url);
    socket.onopen = () => {
      socket.close();
      resolve("open");
    };
    socket.onerror = () => resolve("refused");
  });

export const server = [
  [
    "server: no page can connect to it directly",
    async (t) => {
      assert.equal(await t.run(dial, t.direct), "refused");
    },
  ],
  [
    "relay: a page of a foreign origin cannot connect",
    async (t) => {
      const page = await t.foreignPage(FOREIGN);
      try {
        assert.equal(await page.evaluate(() => location.hostname), FOREIGN);
        const before = t.sockets.length;
        const error = await page.evaluate(async () => {
          const client = await kit.client({ reconnect: false, connectTimeout: 5000 });
          return kit.thrown(() => client.agents.createSession("codex"));
        });
        assert.equal(error.name, "ConnectionError");
        assert.equal(error.code, "network");
        assert.match(error.message, /origin not allowed/);
        assert.equal(t.sockets.length, before, "the server heard nothing of it");
      } finally {
        await page.context().close();
      }
    },
  ],
  [
    "relay: a page of this machine can",
    async (t) => {
      const id = await t.run(async () => (await kit.session()).id);
      assert.match(id, /^[0-9a-f-]{36}$/);
      assert.deepEqual(t.sockets.map(({ status }) => status), [101]);
    },
  ],
];
