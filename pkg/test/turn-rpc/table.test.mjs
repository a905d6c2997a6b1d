// The table of scripted traffic that the Rust client plays in the browser, too (`tests/browser/table.rs`).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { connect } from "../../dist/index.js";
import { collect, textOf } from "../support/collect.mjs";
import { QUICK } from "../support/turn-rpc.mjs";

const FOLDER = join(import.meta.dirname, "../../../tests/conformance");
const { duties, cases } = JSON.parse(readFileSync(join(FOLDER, "socket.json"), "utf8"));
const serve = new Function("duties", "answers", readFileSync(join(FOLDER, "socket-server.js"), "utf8"));

const codeOf = ({ code, status }) => (status === undefined ? code : `${code} ${status}`);

for (const { name, answers, calls, outcomes, heard } of cases) {
  test(`table: ${name}`, async (t) => {
    const server = serve(duties, answers);
    const client = await connect({
      baseUrl: "ws://scripted.test", protocol: "turn-rpc", reconnect: QUICK, connectTimeout: 300, webSocket: () => new server.Socket(),
    });
    t.after(() => client.close());
    let session;
    const play = {
      session: async () => {
        session = await client.agents.getSession("s1");
        return "read";
      },
      turn: async () => {
        const turn = session.createTurn({ input: "Hello" });
        const { error } = await collect(turn.stream());
        if (error) throw error;
        return `${turn.status} ${textOf(turn)}`;
      },
    };
    const ended = [];
    for (const call of calls) ended.push(await play[call]().catch(codeOf));
    assert.deepEqual(ended, outcomes);
    assert.deepEqual(server.heard, heard);
  });
}
