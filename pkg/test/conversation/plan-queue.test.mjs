// The rules of a plan, as tables. The queue, and steering.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ALL, answer, attach, calls, catchUp, ended, hold, incomplete, LINEAR, listed, named, page, pageFailed, play, queue, refused, running, send, stop } from "./rules.mjs";

test("inputs wait in order", () => {
  play(
    ALL,
    ...running,
    [send("b"), ""],
    [send("c"), ""],
    [send("d"), ""],
    [{ kind: "moveQueued", key: 4, to: 0 }, ""],
    [{ kind: "editQueued", key: 2, input: "B" }, ""],
    [{ kind: "removeQueued", key: 3 }, "give back 3: c"],
    [{ kind: "removeQueued", key: 3 }, "refused: gone"],
    [ended(1), "start 4 after newest: d"],
    [named(4, "y"), ""],
    [ended(4), "start 2 after newest: B"],
  );
});

test("it waits for calls, unless an input throws them away", () => {
  const asks = [ended(1, calls("person", "c")), ""];
  play(ALL, ...running, [send("b"), ""], asks, [answer(1, "c", "yes"), "start 3 after newest: c=yes"], [named(3, "y"), ""], [ended(3), "start 2 after newest: b"]);
  play(ALL, ...running, [send("b", { discard: true }), ""], [ended(1, calls("person", "c")), "start 2 after newest: b, discards"]);
});

test("it waits for the newest page", () => {
  const held = [[attach, "load"], [pageFailed, ""], ...running, [send("b"), ""], [hold(true), ""], [ended(1), ""], [catchUp, "load"], [hold(false), ""]];
  play(ALL, ...held, [page([listed("x", "", "a")]), "start 2 after newest: b"]);
  const other = listed("y", "x", "c", { state: "running" });
  play(ALL, ...held, [page([listed("x", "", "a"), other]), "watch 3: y"], [ended(3), "start 2 after newest: b"]);
});

test("what fails holds it", () => {
  for (const [fact, effect] of [
    [ended(1, [], "error"), ""],
    [incomplete(1), ""],
    [stop, "cancel 1"],
  ]) {
    const plan = play(ALL, ...running, [send("b"), ""], [fact, effect]);
    assert.deepEqual([queue(plan), plan.view().heldQueue], ["b held", true], JSON.stringify(fact));
  }
});

test("a held input is sent when a person says so", () => {
  const held = [...running, [send("b"), ""], [hold(true), ""], [ended(1), ""]];
  play(ALL, ...held, [hold(false), "start 2 after newest: b"]);
  play(ALL, ...held, [{ kind: "sendNow", key: 2 }, "start 2 after newest: b"]);
});

test("while a turn runs, an input queues, steers, interrupts or is refused", () => {
  for (const [whenBusy, options, effect, expected] of [
    ["queue", ALL, "", "b waits"],
    ["steer", ALL, "steer 2 into 1: b", "b steering"],
    ["steer", LINEAR, "", "b waits"],
    ["interrupt", ALL, "cancel 1", "b waits"],
    ["reject", ALL, "refused: busy", ""],
  ]) {
    assert.equal(queue(play(options, ...running, [send("b", { whenBusy }), effect])), expected, whenBusy);
    assert.equal(queue(play({ ...options, whenBusy }, ...running, [send("b"), effect])), expected, `${whenBusy}, by the plan's options`);
  }
});

test("a steered message is in one place", () => {
  const steered = [...running, [send("b", { whenBusy: "steer" }), "steer 2 into 1: b"], [{ kind: "editQueued", key: 2, input: "c" }, "refused: sent"]];
  const told = (delivery) => [{ kind: "steered", key: 2, delivery }, ""];
  const said = [{ kind: "said", turn: 1, input: "b" }, ""];
  const rows = (plan) => plan.view().path[0].steered;
  const taken = play(ALL, ...steered, told("taken"));
  assert.deepEqual([rows(taken), queue(taken)], [[[2, "b"]], ""]);
  taken.take(said[0]);
  assert.deepEqual(rows(taken), [[2, ""]], "the turn's own record has it");
  const first = play(ALL, ...steered, said, told("taken"));
  assert.deepEqual([rows(first), queue(first)], [[[2, ""]], ""], "the record was first");
  // Refused: it is sent after the turn.
  play(ALL, ...steered, told("refused"), [ended(1), "start 2 after newest: b"]);
  const missed = play(ALL, ...steered, told("lost"), [{ kind: "removeQueued", key: 2 }, "refused: sent"], [ended(1), ""]);
  assert.equal(queue(missed), "b held", "lost, and not in the turn");
  assert.equal(queue(play(ALL, ...steered, told("lost"), said, [ended(1), ""])), "", "lost, and in the turn");
  assert.equal(queue(play(ALL, ...steered, [ended(1), ""], told("lost"))), "b held", "lost when the turn was over");
  const asks = [ended(1, calls("person", "c")), ""];
  const late = play(ALL, ...steered, told("lost"), asks, [answer(1, "c", "yes"), "start 3 after newest: c=yes"], [named(3, "x"), ""]);
  assert.equal(queue(late), "b held");
  late.take({ kind: "said", turn: 3, input: "b" });
  assert.equal(queue(late), "", "it came late, in the turn that goes on under the same id");
});
