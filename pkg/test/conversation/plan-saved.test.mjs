// The rules of a plan, as tables. What outlives the page.
import assert from "node:assert/strict";
import { test } from "node:test";
import { OpenPlan } from "./plan.mjs";
import { ALL, answer, attach, calls, ended, hold, listed, loadEarlier, loaded, named, page, path, play, queue, send, take } from "./rules.mjs";

/** What a plan has stored last. */
const storedBy = (options, ...facts) => {
  const plan = new OpenPlan(options);
  const effects = facts.flatMap((fact) => plan.take(fact).effects);
  return effects.findLast((effect) => effect.kind === "store")?.text ?? "";
};
const restored = (text) => play(ALL, [{ kind: "restored", text }, ""], [attach, "load"]);

test("the queue comes back, held", () => {
  const plan = restored(storedBy(ALL, send("a"), named(1, "x"), send("b"), send("c")));
  assert.deepEqual(queue(plan), "b held, c held");
  assert.equal(take(plan, page([listed("x", "", "a")])), "");
  assert.equal(take(plan, hold(false)), "start 1 after newest: b");
});

test("a start in flight is unknown until the list decides", () => {
  for (const [turns, shown, state] of [
    [[listed("x", "", "a")], "x", "over"],
    [[], "a", "failed"],
  ]) {
    const plan = restored(storedBy(ALL, send("a")));
    assert.equal(plan.view().path[0].state, "unknown");
    assert.equal(take(plan, page(turns)), "");
    assert.deepEqual([path(plan), plan.view().path[0].state], [shown, state]);
  }
});

test("two of three answers come back, and the third sends all", () => {
  const asks = calls("person", "c", "d", "e");
  const plan = restored(storedBy(ALL, send("a"), named(1, "x"), ended(1, asks), answer(1, "c", "1"), answer(1, "d", "2")));
  assert.equal(take(plan, page([listed("x", "", "a", { calls: asks })])), "");
  assert.deepEqual(plan.view().calls.map(({ answer: text }) => text), ["1", "2", ""]);
  assert.equal(take(plan, answer(1, "e", "3")), "start 2 after newest: c=1,d=2,e=3");
});

test("the result of a page's tool is sent automatically", () => {
  const asks = [...calls("tool", "c"), ...calls("tool", "d")];
  const plan = restored('[["a","1","x","c",true],["a","2","x","d",false]]');
  assert.equal(take(plan, page([listed("x", "", "a", { calls: asks })])), "start 2 after newest: c=1,d=2");
});

test("a steered message is unknown until its turn is loaded", () => {
  const plan = restored('[["q","b","w",false,true]]');
  assert.equal(take(plan, page([listed("x", "w", "a")], true)), "");
  assert.equal(queue(plan), "b unknown");
  assert.equal(take(plan, loadEarlier), "load before x");
  plan.take(page([listed("w", "", "a", { said: ["b"] })]));
  assert.equal(queue(plan), "");
  const missed = restored('[["q","b","w",false,true]]');
  missed.take(page([listed("x", "", "a")]));
  assert.equal(queue(missed), "b held", "no page has its turn");
});

test("an answer that may have arrived is not sent again with another one", () => {
  const plan = restored('[["a","yes","x","c",true]]');
  assert.equal(take(plan, page([listed("x", "", "a", { state: "running" })])), "watch 1: x");
  plan.take({ kind: "waits", turn: 1, calls: calls("person", "c", "d") });
  assert.equal(plan.view().calls[0].sent, true);
  assert.equal(take(plan, answer(1, "d", "no")), "answer 1: d=no");
});

test("an answer to a call that no longer waits is not kept", () => {
  const plan = restored('[["a","yes","x","c",false]]');
  const { effects } = plan.take(page([listed("x", "", "a"), listed("y", "x", "")]));
  assert.deepEqual(effects, [{ kind: "store", text: "" }]);
});

test("texts may have line breaks", () => {
  const facts = [send("a"), named(1, "x"), ended(1, calls("person", "c\n", "d")), answer(1, "c\n", "1\n2")];
  const plan = restored(storedBy(ALL, ...facts));
  plan.take(page([listed("x", "", "a", { calls: calls("person", "c\n", "d") })]));
  assert.equal(plan.view().calls[0].answer, "1\n2");
});

test("when all is sent, nothing is kept", () => {
  assert.equal(storedBy(ALL, send("a"), named(1, "x")), "");
  assert.equal(storedBy({ ...ALL, hasSession: false }, send("a")), '[["t","a","",false,false,0]]', "this was not sent");
});

test("damaged entries are left out", () => {
  for (const text of ["", "?", "null", "3", "{}", "[null]", '["q"]', "[[]]", '[["q"]]', '[["q",1]]', '[["q","a",2]]', '[["what","is","this"]]']) {
    const view = restored(text).view();
    assert.deepEqual([view.queue, view.path], [[], []], text);
  }
  assert.equal(queue(restored('[["q",1],["q","b","",false]]')), "b held", "and only that");
});
