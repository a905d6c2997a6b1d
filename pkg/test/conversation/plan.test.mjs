// The face of a plan.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createPlan } from "./plan.mjs";
import { ALL, attach, listed, page, send } from "./rules.mjs";

test("a plan keeps its state to itself", () => {
  const plan = createPlan(ALL);
  assert.deepEqual(Object.keys(plan), ["take", "view", "questionOf", "nameOf", "keyOf"]);
  plan.take(attach);
  plan.take(page([listed("x", "", "a"), listed("y", "x", "")]));
  assert.deepEqual([plan.nameOf(1), plan.nameOf(9), plan.keyOf("ty"), plan.keyOf("n9"), plan.keyOf("y")], ["tx", "n9", 2, 9, 0]);
  assert.deepEqual([plan.questionOf(2), plan.questionOf(1), plan.questionOf(9)], [1, 1, 0]);
  assert.deepEqual(plan.take(send("b")), {
    key: 3,
    effects: [
      { kind: "start", turn: 3, after: "newest", discard: false, input: { message: "b" } },
      { kind: "store", text: '[["t","b","y",false,false,2]]' },
    ],
  });
});
