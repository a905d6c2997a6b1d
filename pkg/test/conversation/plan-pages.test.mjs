// The rules of a plan, as tables. Pages of the server's turns, and the tree that they make.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ALL, answer, attach, calls, catchUp, detach, ended, incomplete, LINEAR, listed, loadEarlier, loaded, named, page, pageFailed, path, phase, play, running, send, show, siblings, started, take } from "./rules.mjs";

test("abandoned branches are not shown", () => {
  const turns = [listed("x", "", "a"), listed("y", "x", "b"), listed("z", "y", "c"), listed("v", "x", "b"), listed("w", "v", "d")];
  const plan = loaded(ALL, turns);
  assert.equal(path(plan), "x v w");
  assert.deepEqual(siblings(plan, 1), [2, 4]);
  plan.take(show(2));
  assert.equal(path(plan), "x y z", "to the newest turn of the branch");
  assert.equal(take(plan, send("e")), "start 6 after z: e");
  assert.equal(path(plan), "x y z e");
});

test("earlier pages come before, and gaps are kept", () => {
  for (const options of [ALL, LINEAR]) {
    const turn = (id, previous) => listed(id, options.fork ? previous : "", id);
    const plan = loaded(options, [turn("c", "b"), turn("d", "c")], true);
    const then = (fact, expected, shown) => {
      assert.equal(take(plan, fact), expected);
      assert.equal(path(plan), shown);
    };
    then(loadEarlier, "load before c", "c d");
    then(page([turn("b", "a")], true), "", "b c d");
    // Others have sent more than a page.
    then(catchUp, "load", "b c d");
    then(page([turn("g", "f"), turn("h", "g")], true), "", "g h");
    assert.deepEqual(siblings(plan, 0), [], "what follows a gap has no siblings");
    then(loadEarlier, "load before g", "g h");
    then(page([turn("d", "c"), turn("e", "d"), turn("f", "e")], true), "", "b c d e f g h");
    then(loadEarlier, "load before b", "b c d e f g h");
    then(page([turn("a", "")]), "", "a b c d e f g h");
    assert.equal(plan.view().hasEarlier, false);
  }
});

test("no tool of a resumed turn runs before the turn reports its pending calls", () => {
  const waits = { kind: "waits", turn: 1, calls: calls("tool", "c") };
  const plan = loaded(ALL, [listed("x", "", "a", { calls: calls("tool", "c") })]);
  const steps = [[{ kind: "leading", on: true }, "load"], [page([listed("x", "", "a", { state: "running" })]), "forget 1; watch 1: x"], [waits, "run c"]];
  for (const [fact, expected] of steps) assert.equal(take(plan, fact), expected);
});

test("turns of others are adopted and read", () => {
  const plan = loaded(ALL, [listed("x", "", "a")]);
  plan.take(catchUp);
  assert.equal(take(plan, page([listed("x", "", "a"), listed("y", "x", "b", { state: "running" })])), "watch 2: y");
  assert.deepEqual([path(plan), phase(plan)], ["x y", "thinking"]);
  assert.equal(take(plan, send("c")), "", "it waits for the other's turn");
  assert.equal(take(plan, ended(2)), "start 3 after newest: c");
});

test("after a turn that follows an unknown one the newest page is read", () => {
  const plan = play(ALL, ...running, [ended(1), ""], [send("b"), "start 2 after newest: b"], [named(2, "z", "y"), "load"]);
  plan.take(page([listed("x", "", "a"), listed("y", "x", "other"), listed("z", "y", "b", { state: "running" })]));
  assert.equal(path(plan), "x y z");
});

test("a page that is older than the known facts does not count", () => {
  for (const stale of [{ state: "running" }, { calls: calls("person", "c") }]) {
    const plan = play(ALL, ...running, [catchUp, "load"], [ended(1), ""], [page([listed("x", "", "a", stale)]), ""]);
    assert.deepEqual([phase(plan), plan.view().calls], ["idle", []]);
  }
});

test("turns that go on under one id come after those of a page that is older", () => {
  const asks = [ended(2, calls("person", "c")), ""];
  const plan = play(LINEAR, [attach, "load"], [pageFailed, ""], ...running, [catchUp, "load"], [ended(1), ""], [send("b"), "start 2 after newest: b"], [named(2, "y"), ""], asks);
  plan.take(answer(2, "c", "yes"));
  plan.take(named(3, "y"));
  plan.take(page([listed("x", "", "a")]));
  assert.equal(path(plan), "x y y");
});

test("a turn that went on without a reader is read again, in one place", () => {
  const took = { kind: "answered", turn: 2, call: "d", delivery: "taken" };
  const late = [
    ...running,
    [ended(1, calls("person", "c")), ""],
    [answer(1, "c", "yes"), "start 2 after newest: c=yes"],
    [named(2, "x", "x"), ""],
    [{ kind: "waits", turn: 2, calls: calls("person", "d") }, ""],
    [answer(2, "d", "no"), "answer 2: d=no"],
    [ended(2, calls("person", "d")), ""],
    [took, "load"],
  ];
  const options = { ...LINEAR, liveAnswers: true };
  const names = (plan) => plan.view().path.map(({ name }) => name);
  for (const [more, effects, phase_] of [
    [{ state: "running" }, "forget 1; watch 1: x", "thinking"],
    [{ calls: calls("person", "e") }, "forget 1", "waiting"],
    [{}, "forget 1", "idle"],
  ]) {
    const plan = play(options, ...late, [page([listed("x", "", "a", more)]), effects]);
    assert.deepEqual([path(plan), names(plan), phase(plan)], ["x", ["n1"], phase_]);
  }
  // What it still waits for stays as reported.
  play(options, ...late.slice(0, 2), [catchUp, "load"], [page([listed("x", "", "a", { calls: calls("person", "c") })]), ""]);
});

test("a turn whose end was not read is taken from the list", () => {
  play(ALL, ...running, [incomplete(1), ""], [catchUp, "load"], [page([listed("x", "", "a")]), "forget 1"]);
});

test("a page may begin with turns that go on under one id", () => {
  const first = (more) => page([listed("x", "", "a", more)], true);
  const plan = play(LINEAR, [attach, "load"], [first({ calls: calls("person", "c") }), ""], [answer(1, "c", "yes"), "start 2 after newest: c=yes"]);
  for (const fact of [named(2, "x"), ended(2), catchUp, first()]) plan.take(fact);
  assert.deepEqual([path(plan), plan.view().hasEarlier], ["x x", true]);
});

test("a page that comes while a turn starts is read again", () => {
  play(ALL, [attach, "load"], [page([]), ""], [catchUp, "load"], started, [page([]), ""], [named(1, "x"), "load"]);
});

test("an abandoned turn is read to its end when it is shown", () => {
  play({ ...ALL, leavesUnseen: true }, ...running, [detach, "leave 1"], [attach, "watch 1: x; load"], [attach, ""]);
  play(ALL, ...running, [detach, ""]);
});

test("keys are ids only where the list came first", () => {
  const names = () => plan.view().path.map(({ name }) => name);
  const plan = loaded(ALL, [listed("x", "", "a")]);
  plan.take(send("b"));
  plan.take(named(2, "y"));
  assert.deepEqual(names(), ["tx", "n2"]);
  plan.take(ended(2));
  plan.take(catchUp);
  plan.take(page([listed("x", "", "a"), listed("y", "x", "b")]));
  assert.deepEqual(names(), ["tx", "n2"], "not when the server lists it");
});

test("hostile lists end", () => {
  const circle = [listed("x", "y", "a"), listed("y", "x", "b"), listed("y", "y", "b"), listed("", "", "")];
  for (const options of [ALL, LINEAR]) {
    const plan = loaded(options, circle, true);
    assert.ok(plan.view().path.length <= 4);
    for (const { key } of plan.turns()) {
      plan.take(show(key));
      assert.ok(plan.view().path.length <= 4);
      plan.questionOf(key);
    }
  }
});

test("a turn without an id is left out: it could not be distinguished from others", () => {
  assert.equal(path(loaded(ALL, [listed("", "", "a"), listed("x", "", "b")])), "x");
});

test("a server may list a turn and its answers as one, under the id of the last", () => {
  const asking = [ended(1, calls("person", "c")), ""];
  const merged = (id, previous, more) => page([listed(id, previous, "a", more)]);
  // Answered here: both stay as they are.
  const here = play(LINEAR, ...running, asking, [answer(1, "c", "yes"), "start 2 after newest: c=yes"], [named(2, "y", "x"), ""], [ended(2), ""], [catchUp, "load"]);
  here.take(merged("y", "x"));
  assert.deepEqual([path(here), here.view().hasEarlier, phase(here)], ["x y", false, "idle"]);
  // Answered elsewhere: it is the same turn under another id, also after several answers.
  const elsewhere = play(LINEAR, ...running, asking, [catchUp, "load"]);
  elsewhere.take(merged("y", "x", { calls: calls("person", "d") }));
  assert.deepEqual([path(elsewhere), phase(elsewhere), elsewhere.view().path[0].key], ["y", "waiting", 1]);
  const both = play(LINEAR, ...running, asking, [answer(1, "c", "yes"), "start 2 after newest: c=yes"], [named(2, "y", "x"), ""], [ended(2, calls("person", "d")), ""], [catchUp, "load"]);
  both.take(merged("z", "y"));
  assert.deepEqual([path(both), both.view().hasEarlier, phase(both)], ["z", false, "idle"]);
  // Under the id of the first, once another one has followed.
  const followed = play(LINEAR, ...running, asking, [answer(1, "c", "yes"), "start 2 after newest: c=yes"], [named(2, "y", "x"), ""], [ended(2), ""], [catchUp, "load"]);
  followed.take(page([listed("x", "", "a"), listed("z", "x", "b")]));
  assert.equal(path(followed), "x y z");
  // A message that was sent instead of an answer.
  const discarded = play(LINEAR, ...running, asking, [catchUp, "load"]);
  discarded.take(page([listed("x", "", "a"), listed("y", "x", "b")]));
  assert.equal(path(discarded), "x y");
});
