// The real Codex app-server behind turnwire-relay, which holds the socket to it: pages in headless Chromium that speak the relay's
// subprotocol, leave, and reconnect.
//
//     node held.mjs [WORD]      runs the cases whose names contain the word
//
// `cargo xtask interop codex` runs this, too, and names the relay by TURNWIRE_RELAY. The last line is `N passed, M failed`.
import assert from "node:assert/strict";
import { inWorld, runCases } from "../runner.mjs";
import { CodexCase } from "./case.mjs";
import { said } from "./cases/expect.mjs";
import { startHeld } from "./world.mjs";

const APPROVAL = "item/commandExecution/requestApproval";

/** Gives a page a reader of a held socket, as `globalThis.reader`. */
const install = (address) => {
  globalThis.reader = {
    name: crypto.randomUUID(),
    /** All messages with a number, over all sockets. */
    got: [],
    last: 0,
    asked: 0,
    /** Connects, and continues where it was if it was there before. */
    async come() {
      const socket = (this.socket = new WebSocket(address, "turnwire.v1"));
      await new Promise((open, fail) => Object.assign(socket, { onopen: open, onerror: () => fail(new Error("no socket")) }));
      const place = this.log === undefined ? {} : { log: this.log, after: this.last };
      this.attached = this.closed = undefined;
      socket.onclose = ({ code, reason }) => {
        if (this.socket === socket) this.closed = [code, reason];
      };
      socket.onmessage = ({ data }) => {
        // Later messages of an abandoned socket are not read: the next socket brings them.
        if (this.socket !== socket) return;
        if (data.startsWith("{")) return void (this.attached ??= JSON.parse(data));
        const at = data.indexOf(" ");
        const number = Number(data.slice(0, at));
        if (number <= this.last) throw new Error(`${number} after ${this.last}`);
        this.last = number;
        this.got.push(JSON.parse(data.slice(at + 1)));
      };
      socket.send(JSON.stringify({ turnwire: "attach", reader: this.name, ...place }));
      await this.until(() => this.attached);
      this.log = this.attached.log;
      this.last = this.attached.after;
      return this.attached;
    },
    leave() {
      const { socket } = this;
      this.socket = undefined;
      socket.close();
    },
    say(message) {
      this.socket.send(JSON.stringify(message));
    },
    async ask(method, params) {
      const id = `${this.name}-${(this.asked += 1)}`;
      this.say({ method, id, params });
      const answer = await this.until(() => this.got.find((message) => message.id === id && message.method === undefined));
      if (answer.error) throw new Error(JSON.stringify(answer.error));
      return answer.result;
    },
    async greet() {
      const clientInfo = { name: "reader", title: "reader", version: "1" };
      const answer = await this.ask("initialize", { clientInfo, capabilities: { experimentalApi: true } });
      this.say({ method: "initialized", params: {} });
      return answer;
    },
    heard(method) {
      return this.got.filter((message) => message.method === method);
    },
    async until(holds) {
      for (const until = Date.now() + 15_000; ; ) {
        const held = holds();
        if (held) return held;
        if (Date.now() > until) throw new Error(`not so within 15 s: ${holds}`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
  };
};

/** A case with a conversation of its own. */
class HeldCase extends CodexCase {
  #address;

  constructor(world, page) {
    super(world, page);
    this.#address = `${world.url.replace(/^http/, "ws")}?conversation=${this.id}`;
  }

  /** Makes a page read the conversation. */
  async reader(page = this.page) {
    await page.evaluate(install, this.#address);
    return page.evaluate(async () => {
      const { whole } = await reader.come();
      return { whole, greeting: await reader.greet() };
    });
  }

  /** Begins a turn in a new thread. Returns the thread's id. */
  begin(text) {
    return this.run(async (text) => {
      const { thread } = await reader.ask("thread/start", {});
      await reader.ask("turn/start", { threadId: thread.id, input: [{ type: "text", text }] });
      return thread.id;
    }, text);
  }
}

const deltas = (got) => got.filter(({ method }) => method === "item/agentMessage/delta").map(({ params }) => params.delta);
const counted = (got) => got.filter(({ method }) => method !== undefined);

const cases = [
  [
    "two pages, one of which leaves and reconnects: both receive the whole turn, on one connection",
    (t) =>
      t.beside(async (page) => {
        const [first, second] = [await t.reader(), await t.reader(page)];
        assert.deepEqual(first.greeting, second.greeting);
        await t.begin("SAY tok 60 20");
        for (let round = 0; round < 6; round += 1) {
          const whole = await t.run(async (most) => {
            await reader.until(() => reader.heard("item/agentMessage/delta").length >= most);
            reader.leave();
            await new Promise((resolve) => setTimeout(resolve, 60));
            return (await reader.come()).whole;
          }, round * 8);
          assert.equal(whole, true);
        }
        const all = async () => {
          await reader.until(() => reader.heard("turn/completed").length > 0);
          return reader.got;
        };
        const [one, other] = [await t.run(all), await page.evaluate(all)];
        assert.equal(deltas(one).join(""), said("tok", 60));
        const shared = counted(other);
        assert.deepEqual(counted(one).slice(-shared.length), shared.slice(-counted(one).length));
        assert.deepEqual([t.sockets.length, t.sent("initialize").length, t.sent("initialized").length, t.sent("turn/start").length], [1, 1, 1, 1]);
      }),
  ],
  [
    "an approval that is asked while no page is there is answered from another device",
    async (t) => {
      await t.reader();
      const thread = await t.begin(`EXEC ${t.command}`);
      await t.run(() => reader.leave());
      await t.until(() => t.heard(APPROVAL).length > 0, "the question");
      assert.equal(t.runs, 0);
      await t.beside(async (page) => {
        await t.reader(page);
        await page.evaluate(async (threadId) => {
          await reader.ask("thread/resume", { threadId });
          const { id } = await reader.until(() => reader.heard("item/commandExecution/requestApproval").at(-1));
          reader.say({ id, result: { decision: "accept" } });
          await reader.until(() => reader.heard("turn/completed").length > 0);
        }, thread);
        const asked = await page.evaluate(() => reader.heard("item/commandExecution/requestApproval"));
        assert.ok(asked.length >= 1);
        assert.equal(new Set(asked.map(({ id }) => id)).size, 1, "one question");
      });
      assert.equal(t.runs, 1);
      assert.equal(t.answers().length, 1);
      const got = await t.run(async () => {
        await reader.come();
        await reader.until(() => reader.heard("turn/completed").length > 0);
        const [{ id }] = reader.heard("item/commandExecution/requestApproval");
        reader.say({ id, result: { decision: "decline" } });
        await reader.until(() => reader.got.some(({ turnwire }) => turnwire === "late"));
        return reader.got;
      });
      const order = got.map(({ method, turnwire }) => method ?? turnwire);
      const places = [APPROVAL, "answered", "turn/completed", "late"].map((word) => order.indexOf(word));
      assert.ok(places.every((place, at) => place >= 0 && (at === 0 || place > places[at - 1])), `${order}`);
      assert.equal(t.answers().length, 1, "the late answer stays with the relay");
      assert.equal(t.sockets.length, 1);
    },
  ],
  [
    "the server's connection breaks: readers see the end, and go on over another one",
    async (t) => {
      await t.reader();
      const thread = await t.begin("SAY tok 20 20");
      await t.run(() => reader.until(() => reader.heard("item/agentMessage/delta").length > 2));
      t.cut();
      assert.deepEqual(await t.run(() => reader.until(() => reader.closed)), [4001, "ended"]);
      const text = await t.run(async (threadId) => {
        const { whole } = await reader.come();
        if (whole) throw new Error("another journal");
        await reader.greet();
        await reader.ask("thread/resume", { threadId });
        const read = async () => (await reader.ask("thread/read", { threadId, includeTurns: true })).thread.turns.at(-1);
        let turn;
        do {
          turn = await read();
          await new Promise((resolve) => setTimeout(resolve, 50));
        } while (turn.status === "inProgress");
        return turn.items.filter(({ type }) => type === "agentMessage").at(-1).text;
      }, thread);
      assert.equal(text, said("tok", 20));
      assert.equal(t.sockets.length, 2);
    },
  ],
  [
    "the package without `relay` has a tunnel",
    async (t) => {
      const report = await t.run(async () => kit.play(await kit.session(), "SAY tok 5 5"));
      assert.deepEqual([report.error, report.status, report.text], [null, "done", said("tok", 5)]);
    },
  ],
];

await inWorld(startHeld, (world) => runCases(world, (page) => new HeldCase(world, page), cases, [], process.argv[2]));
