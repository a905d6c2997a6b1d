// The rules of a plan, as tables. Answers of people and of tools.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ALL, answer, attach, calls, ended, LINEAR, listed, lost, named, page, pageFailed, phase, play, proceed, refused, running, send, started, stop, take } from "./rules.mjs";

const BOTH = calls("person", "c", "d");
const paused = (waiting) => [...running, [ended(1, waiting), ""]];

test("they are sent together with the last one", () => {
  play(
    LINEAR,
    ...paused(BOTH),
    [send("b"), "refused: callsWait"],
    [answer(1, "c", "no"), ""],
    [answer(1, "c", null), ""],
    [answer(1, "d", "yes"), ""],
    [answer(1, "c", "yes"), "start 2 after newest: c=yes,d=yes"],
    [answer(1, "c", "no"), "refused: sent"],
    [named(2, "y"), ""],
    [answer(1, "c", "no"), "refused: notWaiting"],
  );
});

test("one is sent at once where the turn accepts it", () => {
  const live = [
    ...running,
    [{ kind: "waits", turn: 1, calls: BOTH }, ""],
    [answer(1, "c", "yes"), "answer 1: c=yes"],
    [answer(1, "c", "no"), "refused: sent"],
  ];
  const told = (delivery) => [{ kind: "answered", turn: 1, call: "c", delivery }, ""];
  const shown = play(ALL, ...live).view().calls;
  assert.deepEqual(shown, [
    { turn: 1, call: "c", who: "person", sent: true, answer: "yes" },
    { turn: 1, call: "d", who: "person", sent: false, answer: "" },
  ]);
  // The turn had paused: the answer is sent with the others.
  play(ALL, ...live, told("refused"), [ended(1, BOTH), ""], [answer(1, "d", "yes"), "start 2 after newest: c=yes,d=yes"]);
  for (const delivery of ["refused", "lost"]) {
    play(ALL, ...live, [ended(1, BOTH), ""], told(delivery), [answer(1, "d", "yes"), "start 2 after newest: c=yes,d=yes"]);
  }
  // A lost one is sent again only when a person says so.
  play(ALL, ...live, told("lost"), [answer(1, "c", "again"), "answer 1: c=again"]);
  // It was accepted, but the turn had paused before the response: the list says where the turn goes on.
  const [taken] = told("taken");
  const late = [...live, [ended(1, calls("person", "c")), ""], [taken, "load"]];
  play(ALL, ...late, [page([listed("x", "", "a", { state: "running" })]), "forget 1; watch 1: x"]);
  play(ALL, ...late, [page([listed("x", "", "a", { calls: calls("person", "e") })]), "forget 1"], [answer(1, "e", "no"), "start 2 after newest: e=no"]);
  // The others are sent at the end.
  play(ALL, ...live, told("taken"), [ended(1, calls("person", "d")), ""], [answer(1, "d", "yes"), "start 2 after newest: d=yes"]);
});

test("a call that others have answered no longer waits, even if no list says so", () => {
  const told = (...ids) => [{ kind: "waits", turn: 1, calls: calls("person", ...ids) }, ""];
  assert.deepEqual(play(LINEAR, ...paused(BOTH), told("d", "e")).view().calls.map(({ call }) => call), ["d"]);
  play(LINEAR, ...paused(BOTH), [send("b"), "refused: callsWait"], told(), [send("b"), "start 2 after newest: b"]);
});

test("those that did not arrive wait for a person", () => {
  play(
    ALL,
    ...paused(calls("person", "c")),
    [answer(1, "c", "yes"), "start 2 after newest: c=yes"],
    [refused(2), "load"],
    [pageFailed, ""],
    [proceed, "start 3 after newest: c=yes"],
    [lost(3), "load"],
    [proceed, "refused: sent"],
    [answer(1, "c", "no"), "refused: sent"],
  );
});

test("those that may have arrived wait for the list", () => {
  const plan = play(ALL, [attach, "load"], [page([]), ""], ...paused(calls("person", "c")), [answer(1, "c", "yes"), "start 2 after newest: c=yes"]);
  plan.take(lost(2));
  assert.deepEqual([phase(plan), plan.view().calls[0].sent], ["waiting", true]);
});

test("tools run in the tab that leads", () => {
  const lead = (on) => ({ kind: "leading", on });
  const result = { kind: "toolEnded", turn: 1, call: "t", result: "r" };
  play(
    LINEAR,
    ...paused(calls("tool", "t")),
    // Another tab may have run them: that is checked first.
    [lead(true), "load"],
    [page([]), "run t"],
    [lead(false), "stop tools"],
    [result, ""],
    [lead(true), "load"],
    [page([]), "run t"],
    [result, "start 2 after newest: t=r"],
  );
  // Those that were stopped run again when a person says so.
  // Before anything waits there is nothing to check.
  play(LINEAR, [lead(true), ""], ...running, [ended(1, calls("tool", "t")), "run t"], [stop, "stop tools"], [result, ""], [proceed, "run t"]);
});

test("tools alone continue for ten rounds", () => {
  const plan = play(LINEAR, [{ kind: "leading", on: true }, ""], started);
  for (let round = 1; round <= 11; round += 1) {
    plan.take(named(round, `x${round}`));
    assert.equal(take(plan, ended(round, calls("tool", "t"))), round < 11 ? "run t" : "", `round ${round}`);
    plan.take({ kind: "toolEnded", turn: round, call: "t", result: "r" });
  }
  assert.equal(phase(plan), "waiting");
  assert.equal(take(plan, proceed), "run t");
});

test("a turn that failed or was cancelled asks nothing", () => {
  for (const end of ["error", "cancelled"]) {
    const { calls: asked, canSend } = play(ALL, ...running, [ended(1, BOTH, end), ""]).view();
    assert.deepEqual([asked, canSend], [[], true]);
  }
});

test("after a sign-in the agent continues", () => {
  play(LINEAR, ...paused(calls("signIn", "s")), [answer(1, "s", "yes"), "refused: notWaiting"], [proceed, "start 2 after newest: -"]);
});

test("a message can discard pending calls", () => {
  const discards = send("b", { discard: true });
  play(ALL, ...paused(BOTH), [discards, "start 2 after newest: b, discards"], [named(2, "y"), ""], [answer(1, "c", "yes"), "refused: notWaiting"]);
  play(LINEAR, ...paused(BOTH), [discards, "refused: unsupported"]);
});
