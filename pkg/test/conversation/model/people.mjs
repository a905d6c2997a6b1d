// What people do in the tabs, and what their pages do to them.
import assert from "node:assert/strict";

const WHEN_BUSY = [undefined, undefined, "queue", "steer", "interrupt", "reject"];

export function send(world, at, one, two) {
  const input = world.text();
  world.laws.sends(input);
  const taken = world.tell(at, { kind: "send", input, whenBusy: WHEN_BUSY[two % 6], discard: one % 8 === 7 });
  if (typeof taken === "string") world.laws.unsent(input);
}

export function answer(world, at, one, two) {
  const { calls } = world.tabs[at].plan.view();
  if (calls.length === 0) return;
  const { turn, call } = calls[two % calls.length];
  world.tell(at, { kind: "answer", turn, call, answer: one % 8 === 7 ? null : world.text() });
}

/** Retries, asks again, edits or dismisses. */
export function again(world, at, one, two) {
  const tab = world.tabs[at];
  const { plan } = tab;
  const { path } = plan.view();
  if (path.length === 0) return;
  const { key: turn, input: here, state } = path[path.length - 1 - (two % Math.min(path.length, 4))];
  const question = plan.turn(plan.questionOf(turn));
  const input = (question?.id && world.server.find(question.id)?.input) || here;
  if (input === "") return;
  const { laws } = world;
  const before = laws.sent(input);
  const isRefused = (fact) => typeof world.tell(at, fact) === "string";
  switch (one % 8) {
    case 0:
    case 1:
    case 2: {
      laws.sends(input);
      if (here === "") laws.copies(input);
      const isRead = state === "incomplete" || state === "unknown";
      if (isRefused({ kind: "retry", turn, input }) || isRead) laws.set(input, before);
      else if (here === "") tab.hasBranched = true;
      return;
    }
    case 3:
    case 4:
      laws.sends(input);
      laws.copies(input);
      if (isRefused({ kind: "regenerate", turn, input })) laws.set(input, before);
      else tab.hasBranched = true;
      return;
    case 5:
    case 6: {
      const text = world.text();
      laws.sends(text);
      laws.replaced(here, here !== "");
      if (isRefused({ kind: "edit", turn, input: text })) {
        laws.unsent(text);
        laws.replaced(here, false);
      } else if (here === "") tab.hasBranched = true;
      return;
    }
    default:
      world.tell(at, { kind: "dismiss", turn });
  }
}

export function show(world, at, two) {
  const tab = world.tabs[at];
  const turns = tab.plan.turns();
  if (turns.length === 0) return;
  tab.hasBranched = true;
  world.tell(at, { kind: "show", turn: turns[two % turns.length].key });
}

export function changeQueue(world, at, one, two) {
  const { queue } = world.tabs[at].plan.view();
  if (queue.length === 0) return;
  const { laws } = world;
  const { key, input, state } = queue[two % queue.length];
  switch (one % 8) {
    case 0: {
      const text = world.text();
      laws.sends(text);
      laws.replaced(input, true);
      if (typeof world.tell(at, { kind: "editQueued", key, input: text }) !== "string") return;
      laws.unsent(text);
      laws.replaced(input, false);
      return;
    }
    case 1:
      return void world.tell(at, { kind: "removeQueued", key });
    case 2:
      return void world.tell(at, { kind: "moveQueued", key, to: two % 4 });
    case 3: {
      if (state === "held") laws.released(input);
      return void world.tell(at, { kind: "sendNow", key });
    }
    case 4:
      return void world.tell(at, { kind: "steerQueued", key });
    case 5:
      return void world.tell(at, { kind: "hold", on: true });
    default:
      for (const item of queue) if (item.state === "held") laws.released(item.input);
      world.tell(at, { kind: "hold", on: false });
  }
}

/** What cannot be done is refused, or harmless. */
export function badUse(world, at, one, two) {
  const turn = 1_000_000 + two;
  const key = turn;
  const input = '"?"';
  const bad = [
    { kind: "answer", turn, call: "c0", answer: input },
    { kind: "retry", turn, input },
    { kind: "edit", turn, input },
    { kind: "show", turn },
    { kind: "dismiss", turn },
    { kind: "sendNow", key },
    { kind: "editQueued", key, input },
    { kind: "send", input: "" },
    { kind: "regenerate", turn, input },
    { kind: "removeQueued", key },
  ];
  const place = one % 12;
  if (place !== 10) {
    const fact = bad[place] ?? { kind: "moveQueued", key, to: 0 };
    assert.equal(typeof world.tell(at, fact), "string", "bad use was not refused");
    return;
  }
  // Late facts of a turn that is gone.
  const late = [
    { kind: "named", turn, id: "s0", previous: null },
    { kind: "ended", turn, end: "done", calls: [] },
    { kind: "refused", turn },
    { kind: "lost", turn },
    { kind: "steered", key, delivery: "taken" },
    { kind: "toolEnded", turn, call: "c0", result: null },
  ];
  for (const fact of late) assert.equal(typeof world.tell(at, fact), "object", "a late fact was refused");
}

/** The page goes away, and comes back with what was stored. */
export function reload(world, at, two) {
  world.note(`tab ${at}: reload`);
  const left = world.tabs[at];
  const { stored, flying, isLeading } = left;
  for (const [place, { request, response }] of flying.entries()) {
    // What is sent again is what the server's list does not have.
    if (request.kind === "answer") world.laws.answerFailed(request.answer, "refused");
    if (request.kind === "steer") world.laws.steerLost(request.input);
    if (request.kind === "start") world.laws.failed(at, request.turn, "refused");
    if (!response && (two >> place) & 1) world.late.push({ tab: left, request });
  }
  const { calls } = left.plan.view();
  world.open(at, { ...world.options, hasSession: world.server.hasSession });
  const tab = world.tabs[at];
  tab.stored = stored;
  world.promises[at].keep(calls);
  if (stored) world.tell(at, { kind: "restored", text: stored });
  world.attach(at);
  if (isLeading) {
    tab.isLeading = true;
    world.tell(at, { kind: "leading", on: true });
  }
}
