// A case of every server whose model is scripted: its text arrives while the model streams it.
import assert from "node:assert/strict";

/** A name, and what is played in the page. */
export const COMES_AS_SPOKEN = [
  "text: it comes while the model speaks",
  async (t) => {
    const times = await t.run(async () => {
      const turn = (await kit.session()).createTurn({ input: "SAY tok 10 50" });
      const times = [];
      for await (const { type, content } of turn.stream()) if (type === "model.message.delta" && content) times.push(performance.now());
      return times;
    });
    assert.ok(times.length >= 5, `${times.length} deltas`);
    assert.ok(times.at(-1) - times[0] > 300, `all within ${times.at(-1) - times[0]} ms`);
  },
];
