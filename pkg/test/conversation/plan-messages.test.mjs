// The rules of a plan, as tables. Messages: sent, refused, lost, retried, edited, stopped.
import assert from "node:assert/strict";
import { test } from "node:test";
import { OpenPlan } from "./plan.mjs";
import { ALL, answer, attach, calls, catchUp, dismiss, edit, ended, incomplete, LINEAR, listed, loaded, lost, named, page, pageFailed, path, phase, play, proceed, queue, refused, regenerate, retry, running, send, sessionFailed, sessionReady, show, siblings, started, stop, take } from "./rules.mjs";

const none = { ...ALL, hasSession: false };

test("the first one creates the session, and is sent as soon as it exists", () => {
  play(
    none,
    [attach, ""],
    [send("a"), "create"],
    [send("b"), ""],
    [sessionReady, "start 1 after newest: a"],
    [named(1, "x"), ""],
    [ended(1), "start 2 after newest: b"],
  );
});

test("without a session it fails, and is sent on retry", () => {
  const plan = play(none, [send("a"), "create"], [sessionFailed, ""], [retry(1, ""), "create"], [sessionReady, "start 1 after newest: a"]);
  assert.equal(phase(plan), "sending");
  assert.equal(queue(play(none, [send("a"), "create"], [send("b"), ""], [sessionFailed, ""])), "b held");
});

test("a message that is stopped before it is sent is given back", () => {
  const plan = play(none, [send("a"), "create"], [stop, "give back 1: a"], [sessionReady, ""]);
  assert.deepEqual([path(plan), phase(plan)], ["", "idle"]);
});

test("what the server refused stays here", () => {
  const after = (...step) => play(ALL, started, [refused(1), ""], step);
  assert.equal(after(retry(1, ""), "start 1 after newest: a").view().path[0].key, 1);
  after(edit(1, "b"), "start 1 after newest: b");
  assert.equal(path(after(dismiss(1), "give back 1: a")), "");
  const plan = after(send("b"), "start 2 after newest: b");
  assert.equal(path(plan), "a b");
  assert.deepEqual(siblings(plan, 0), [], "what was not sent is no sibling");
  assert.equal(path(play(ALL, started, [refused(1), ""], [send("b"), "start 2 after newest: b"], [refused(2), ""])), "a b", "in the order in which they were sent");
});

test("the next message follows the server's last turn, and is shown even if another branch was chosen", () => {
  const plan = loaded(ALL, [listed("x", "", "a"), listed("y", "x", "b")]);
  const then = (fact, expected, shown) => {
    assert.equal(take(plan, fact), expected);
    assert.equal(path(plan), shown);
  };
  then(regenerate(2, "b"), "start 3 after x: b", "x b");
  then(refused(3), "", "x b");
  then(send("c"), "start 4 after x: c", "x c");
  then(named(4, "z"), "", "x z");
  then(ended(4), "", "x z");
  then(show(3), "", "x b");
  then(send("d"), "start 5 after x: d", "x d");
  then(refused(5), "", "x d z");
  then(show(3), "", "x d b");
  then(dismiss(3), "give back 3: b", "x d z");
});

test("what may have arrived is unknown until the list decides", () => {
  const one = [listed("x", "", "a")];
  const both = [...one, listed("y", "x", "b")];
  const unknown = [
    [attach, "load"],
    [page(one), ""],
    [send("b"), "start 2 after newest: b"],
    [lost(2), "load"],
    [dismiss(2), "refused: sent"],
    [edit(2, "c"), "refused: sent"],
    [retry(2, ""), ""],
  ];
  const arrived = play(ALL, ...unknown, [page(both), "load"]);
  assert.deepEqual([path(arrived), arrived.view().path[1].key], ["x y", 2]);
  play(ALL, ...unknown, [page(one), "load"], [retry(2, ""), "start 2 after newest: b"]);
  const late = play(ALL, ...unknown, [page(one), "load"], [page(both), ""]);
  assert.deepEqual([path(late), late.view().path[1].key], ["x y", 2]);
});

test("only what may have arrived, where it was sent, is the one that the list has", () => {
  const same = [listed("x", "", "a"), listed("y", "x", "b"), listed("z", "y", "b")];
  const one = [attach, "load"];
  // It was refused: the listed one is another client's.
  const failed = play(ALL, one, [page(same.slice(0, 1)), ""], [send("b"), "start 2 after newest: b"], [refused(2), ""], [catchUp, "load"], [page(same.slice(0, 2)), ""]);
  assert.deepEqual(failed.view().path.map(({ key }) => key), [1, 2, 3]);
  // A sibling of the first turn is not one of those that follow it.
  const sibling = play(ALL, one, [page(same.slice(0, 1)), ""], [edit(1, "b"), "start 2 after nothing: b"], [lost(2), "load"], [page(same), ""]);
  assert.deepEqual([sibling.turn(2).id, sibling.turn(2).state], ["", "failed"]);
  const later = play(ALL, one, [page(same.slice(0, 2)), ""], [edit(2, "b"), "start 3 after x: b"], [lost(3), "load"], [page(same), ""]);
  assert.equal(later.turn(3).id, "");
});

test("what failed is not sent again past calls that wait, nor a sibling while a turn runs", () => {
  const failed = [started, [refused(1), ""]];
  const asks = [[send("b"), "start 2 after newest: b"], [named(2, "y"), ""], [ended(2, calls("person", "c")), ""]];
  play(ALL, ...failed, ...asks, [retry(1, ""), "refused: callsWait"], [edit(1, "c"), "refused: callsWait"]);
  const sibling = [[attach, "load"], [page([listed("x", "", "a")]), ""], [edit(1, "b"), "start 2 after nothing: b"], [refused(2), ""]];
  play(ALL, ...sibling, [send("c"), "start 3 after newest: c"], [retry(2, ""), "refused: busy"]);
  // Any other waits for the turn that runs.
  const busy = play(ALL, ...failed, [send("b"), "start 2 after newest: b"], [retry(1, ""), ""]);
  assert.deepEqual([path(busy), queue(busy)], ["b", "a waits"]);
});

test("where no list decides, a person decides on what may have arrived", () => {
  const silent = { ...LINEAR, history: false };
  play(silent, started, [lost(1), ""], [edit(1, "b"), "refused: sent"], [retry(1, ""), "start 1 after newest: a"]);
  play(silent, started, [lost(1), ""], [dismiss(1), "give back 1: a"]);
});

test("a question is asked again beside itself, or at the end where the protocol cannot fork", () => {
  for (const [fact, expected, shown] of [
    [regenerate(2, "again"), "start 3 after x: again", "x again"],
    [regenerate(1, "again"), "start 3 after nothing: again", "again"],
    [edit(2, "other"), "start 3 after x: other", "x other"],
    [edit(1, "other"), "start 3 after nothing: other", "other"],
  ]) {
    const plan = loaded(ALL, [listed("x", "", "a"), listed("y", "x", "b")]);
    assert.equal(take(plan, fact), expected);
    assert.equal(path(plan), shown);
    const of = siblings(plan, plan.view().path.length - 1);
    assert.deepEqual([of.indexOf(3), of.length], [1, 2]);
    plan.take(show(of[0]));
    assert.equal(path(plan), "x y");
  }
  const plan = loaded(LINEAR, [listed("x", "", "a"), listed("y", "", "b")]);
  assert.equal(take(plan, edit(1, "other")), "refused: unsupported");
  assert.equal(take(plan, regenerate(1, "again")), "start 3 after newest: again");
  assert.equal(path(plan), "x y again");
  play(LINEAR, ...running, [ended(1, calls("person", "c")), ""], [regenerate(1, "again"), "refused: callsWait"]);
});

test("stop cancels once, and a start that is refused then is given back", () => {
  const plan = play(ALL, ...running, [send("b"), ""], [stop, "cancel 1"], [stop, ""], [ended(1, [], "cancelled"), ""]);
  assert.deepEqual([queue(plan), phase(plan)], ["b held", "idle"]);
  play(ALL, started, [stop, "cancel 1"], [refused(1), "give back 1: a"]);
  const stopping = play(ALL, ...running, [stop, "cancel 1"], [{ kind: "cancelFailed", turn: 1 }, ""], [stop, "cancel 1"]);
  assert.equal(phase(stopping), "stopping");
  assert.equal(phase(play(ALL, started, [stop, "cancel 1"], [named(1, "x"), ""])), "stopping", "also once it has begun");
});

test("a turn of unknown end is read again, and never sent", () => {
  const plan = play(ALL, ...running, [incomplete(1), ""], [retry(1, "a"), "watch 1: x"]);
  assert.equal(phase(plan), "thinking");
});

test("bad use is refused", () => {
  const plan = play(ALL, ...running);
  for (const [fact, refusal] of [
    [send(""), "nothing"],
    [send("b", { whenBusy: "reject" }), "busy"],
    [edit(1, "t"), "busy"],
    [regenerate(1, "t"), "busy"],
    [retry(1, "t"), "busy"],
    [dismiss(1), "sent"],
    [proceed, "busy"],
    [answer(1, "c", "yes"), "notWaiting"],
    [answer(9, "c", "yes"), "gone"],
    [edit(9, "t"), "gone"],
    [show(9), "gone"],
    [{ kind: "sendNow", key: 9 }, "gone"],
  ]) {
    const before = plan.view();
    assert.equal(plan.take(fact), refusal, JSON.stringify(fact));
    assert.deepEqual(plan.view(), before, JSON.stringify(fact));
  }
});

test("late facts about what is gone are harmless", () => {
  const turn = 7;
  const facts = [
    named(turn, "x"),
    { kind: "active", turn, activity: "working" },
    { kind: "waits", turn, calls: [] },
    ended(turn),
    incomplete(turn),
    refused(turn),
    lost(turn),
    { kind: "cancelFailed", turn },
    { kind: "answered", turn, call: "c", delivery: "taken" },
    { kind: "toolEnded", turn, call: "c", result: null },
    { kind: "steered", key: turn, delivery: "lost" },
    { kind: "said", turn, input: "a" },
    pageFailed,
    page([listed("x", "", "a")]),
    sessionFailed,
  ];
  const plan = play(ALL, ...facts.map((fact) => [fact, ""]));
  assert.equal(path(plan), "");
});

test("phases follow the turn", () => {
  const plan = new OpenPlan(ALL);
  const active = (activity) => ({ kind: "active", turn: 1, activity });
  for (const [fact, expected] of [
    [attach, "loading"],
    [page([]), "idle"],
    [send("a"), "sending"],
    [named(1, "x"), "thinking"],
    [active("answering"), "answering"],
    [active("reconnecting"), "reconnecting"],
    [active("working"), "working"],
    [{ kind: "waits", turn: 1, calls: calls("person", "c") }, "waiting"],
    [answer(1, "c", "yes"), "working"],
    [ended(1, [], "error"), "failed"],
  ]) {
    assert.notEqual(typeof plan.take(fact), "string");
    assert.equal(phase(plan), expected, JSON.stringify(fact));
  }
});

test("a turn's siblings are those that the server lists, though it names the first one's predecessor as none", () => {
  const plan = play(ALL, started, [named(1, "x", ""), ""], [ended(1), ""], [send("b"), "start 2 after newest: b"], [named(2, "y", "x"), ""]);
  assert.deepEqual([siblings(plan, 0), siblings(plan, 1)], [[], []]);
});
