// The end of a run that repeats a long answer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, begin, finish, runOf, serveAgent, START } from "../support/agent-event.mjs";
import { collect, textOf } from "../support/collect.mjs";

const LONG = 'A "long" answer, with é and \u{1f600}.\n'.repeat(1000);

for (const protocol of ["tirea", "awaken"]) {
  const run = async (t, list) => {
    const { session } = await serveAgent(t, protocol, { [START]: runOf(protocol, list) });
    const turn = session.createTurn({ input: "Hello" });
    const { events, error } = await collect(turn.stream());
    assert.equal(error, undefined);
    return { turn, ends: [events.at(-1).state, turn.snapshot().state] };
  };
  const output = (end) => [end.output.content, end.result.response];

  test(`${protocol}: a long answer is whole in the message, in the output and in the result`, async (t) => {
    const { turn, ends } = await run(t, answer(LONG.slice(0, 9000), LONG.slice(9000)));
    for (const end of ends) {
      assert.equal(typeof Object.getOwnPropertyDescriptor(end.output, "content").get, "function", "it is decoded when it is read");
      assert.deepEqual(output(end).map((text) => text === LONG), [true, true]);
    }
    assert.equal(textOf(turn) === LONG, true);
  });

  test(`${protocol}: a long answer without earlier deltas is the message`, async (t) => {
    const { turn, ends } = await run(t, [begin(), finish("natural_end", { result: { response: LONG } })]);
    for (const end of ends) assert.deepEqual(output(end).map((text) => text === LONG), [true, true]);
    assert.equal(textOf(turn) === LONG, true);
  });

  test(`${protocol}: a long answer that says something else than the message leaves the message as it came`, async (t) => {
    const list = answer(LONG).map(([type, data]) => (type === "run_finish" ? [type, { ...data, result: { response: LONG.replace("A", "B") } }] : [type, data]));
    const { turn, ends } = await run(t, list);
    for (const end of ends) assert.deepEqual(output(end).map((text) => text === LONG.replace("A", "B")), [true, true]);
    assert.equal(textOf(turn) === LONG, true);
  });
}
