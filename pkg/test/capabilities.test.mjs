// `client.capabilities` agrees with the documentation of each protocol.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { connect } from "../dist/index.js";
import { failure } from "./support/collect.mjs";
import { serveRpc } from "./support/turn-rpc.mjs";

const page = readFileSync(join(import.meta.dirname, "..", "..", "docs", "protocols.md"), "utf8");
const [table] = page.match(/^<!-- capabilities: begin[^]*?^<!-- capabilities: end/m);
const [head, , ...rows] = table.match(/^\|.*\|$/gm).map((line) => line.slice(2, -2).split(" | "));
const protocols = head.slice(2);

const THREAD = { "thread/start": ({ params }) => ({ thread: { thread_id: params.thread_id, id: "t", turns: [] } }) };
const MEANINGS = { yes: true, "–": false };

/** Those of the package. The columns after them are of protocols that only the crate speaks. */
const families = JSON.parse(readFileSync(join(import.meta.dirname, "..", "families.json"), "utf8"));
const spoken = Object.values(families).flatMap((family) => family.protocols);

test("the documentation has a column for each protocol", () => {
  assert.deepEqual(protocols.slice(0, spoken.length), spoken);
});

for (const [at, protocol] of spoken.entries()) {
  test(`${protocol}: the capabilities are those of the documentation`, async () => {
    const { capabilities } = await connect({ baseUrl: "http://127.0.0.1:1", protocol });
    assert.deepEqual(Object.keys(capabilities), rows.map(([name]) => name.replaceAll("`", "")));
    for (const [name, , ...said] of rows) {
      const value = capabilities[name.replaceAll("`", "")];
      if (said[at] !== "by agent") assert.equal(value, MEANINGS[said[at]] ?? said[at], name);
    }
  });
}

test("a turn that must follow another one is refused where turns cannot branch", async (t) => {
  for (const protocol of ["turn-rpc", "codex"]) {
    const { client } = await serveRpc(t, { initialize: () => ({ userAgent: "test" }), ...THREAD }, { protocol });
    const session = await client.agents.createSession(protocol === "codex" ? "codex" : "Chat");
    for (const previousTurnId of ["none", "t1"]) {
      const error = await failure(() => session.createTurn({ input: "Hello", previousTurnId }));
      assert.deepEqual([error.name, error.code], ["InputError", "invalid_option"], `${protocol} ${previousTurnId}`);
    }
    session.createTurn({ input: "Hello", previousTurnId: "auto" });
  }
});
