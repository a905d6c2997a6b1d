// Lists that arrive after a turn of the session has started or ended: the known state of the turn is newer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { allow, connect } from "../dist/index.js";
import { textOf } from "./support/collect.mjs";
import { READS, slowServer } from "./support/slow-server.mjs";

async function* approving({ text }) {
  if (text !== "go") return yield `You said: ${text}`;
  yield "thinking";
  yield { wait: 60 };
  const [answer] = yield [{ tool: "restart", arguments: {}, result: "running", approval: true }];
  yield answer.allowed ? "restarted" : "no";
}

/** The ways to read, and how many requests each takes. */
const WAYS = {
  listTurns: {
    requests: () => 1,
    async read(session) {
      for await (const turn of session.listTurns()) void turn.status;
    },
  },
  history: { requests: (protocol) => READS[protocol], read: (session) => session.history() },
};

async function until(holds) {
  for (let tries = 0; !holds(); tries += 1) {
    if (tries > 1000) throw new Error(`never: ${holds}`);
    await sleep(1);
  }
}

for (const protocol of Object.keys(READS)) {
  for (const [name, { requests, read }] of Object.entries(WAYS)) {
    for (let nth = 1; nth <= requests(protocol); nth += 1) {
      for (const when of ["starts", "ends"]) {
        test(`${protocol}: a turn ${when} while answer ${nth} of \`${name}\` is in flight, and is answered`, async (t) => {
          const server = slowServer(approving, protocol);
          const client = await connect(server.connection);
          t.after(() => client.close());
          const session = await client.agents.createSession("agent");
          await session.createTurn("hello").waitForCompletion();
          const turn = session.createTurn("go");
          let ended;
          if (when === "ends") {
            ended = turn.waitForCompletion();
            await until(() => textOf(turn) !== "");
          }
          server.hold(nth);
          const reading = read(session);
          await until(server.isHolding);
          await (ended ?? turn.waitForCompletion());
          server.release();
          await reading;
          assert.equal(turn.status, "done");
          const next = session.createTurn([allow(turn.snapshot().required_actions[0])]);
          await next.waitForCompletion();
          assert.equal(textOf(next).split("\n").at(-1), "restarted");
          const last = session.createTurn("more");
          await last.waitForCompletion();
          assert.equal(textOf(last), "You said: more");
        });
      }
    }
  }
}
