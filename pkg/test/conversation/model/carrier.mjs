// Runs effects and requests, and reads streams.
import assert from "node:assert/strict";

const ACTIVITIES = ["thinking", "answering", "working", "reconnecting"];

/** Carries out an effect of a tab's plan. */
export function carryOut(world, at, effect) {
  const tab = world.tabs[at];
  switch (effect.kind) {
    case "start": {
      const asking = effect.input && "asking" in effect.input ? tab.idOf(effect.input.asking) : "";
      if (effect.input && "asking" in effect.input) assert.notEqual(asking, "", "a turn that asks has an id");
      return tab.flying.push({ request: { ...effect, asking } });
    }
    case "steer":
      assert.notEqual(tab.idOf(effect.turn), "", "steered into a turn without id");
      return tab.flying.push({ request: effect });
    case "runTool":
      assert.ok(tab.isLeading, "a tool runs in a tab that does not lead");
      return tab.flying.push({ request: effect });
    case "load":
      assert.ok(!tab.flying.some(({ request }) => request.kind === "load"), "two pages are read at once");
      assert.notEqual(effect.before, "", "a page ends before a known turn");
      assert.ok(!tab.flying.some(({ request }) => request.kind === "start"), "a page is read while a turn starts");
      return tab.flying.push({ request: effect });
    case "createSession":
    case "cancel":
    case "answer":
      return tab.flying.push({ request: effect });
    case "stopTools":
      tab.flying = tab.flying.filter(({ request }) => request.kind !== "runTool");
      return;
    case "watch":
      assert.ok(effect.id !== "" && effect.id === tab.idOf(effect.turn), "a watched turn has its id");
      return tab.watch(effect.turn, effect.id);
    case "leave":
      return tab.unwatch(effect.turn);
    case "forget":
      return assert.ok(effect.id !== "" && effect.id === tab.idOf(effect.turn), "a turn that is taken anew has its id");
    case "store":
      tab.stored = effect.text;
      return;
    case "giveBack":
      return world.laws.gaveBack(effect.input);
    default:
      assert.fail(`an unknown effect: ${effect.kind}`);
  }
}

/** A request or a response makes one step, or is lost. */
export function carry(world, at, one, two) {
  const tab = world.tabs[at];
  if (tab.flying.length === 0) return;
  const [flying] = tab.flying.splice(two % tab.flying.length, 1);
  const { request, response } = flying;
  const chance = world.isCalm ? 0 : one % 16;
  // While the turn starts, the carrier waits.
  if (request.kind === "cancel" && tab.plan.turn(request.turn)?.state === "sending") {
    tab.flying.push(flying);
  } else if (response) {
    if (chance < 13) return respond(world, at, request, response);
    world.note(`tab ${at}: response lost`, request);
    fail(world, at, request, "lost");
  } else if (chance < 13) {
    tab.flying.push({ request, response: arrive(world, tab, request) });
  } else if (chance === 13) {
    world.note(`tab ${at}: lost`, request);
    fail(world, at, request, "lost");
  } else if (chance === 14) {
    world.note(`tab ${at}: given up`, request);
    // It may arrive later.
    world.late.push({ tab, request });
    fail(world, at, request, "lost");
  } else {
    world.note(`tab ${at}: refused or not sent`, request);
    fail(world, at, request, "refused");
  }
}

/** What a request of a tab, which may be gone, does at the server. Returns the response. */
function arrive(world, tab, request) {
  const response = answerTo(world, tab, request);
  world.note("server", request, response);
  return response;
}

function answerTo({ server }, tab, request) {
  switch (request.kind) {
    case "createSession":
      server.hasSession = true;
      return { isTaken: true };
    case "start":
      return { started: server.start(request) };
    case "steer":
      return { isTaken: server.steer(tab.idOf(request.turn), request.input) };
    case "cancel":
      server.end(tab.idOf(request.turn), "cancelled");
      return { isTaken: true };
    case "answer":
      return { isTaken: server.answer(tab.idOf(request.turn), request.call, request.answer) };
    case "load":
      return { page: server.page(request.before) };
    default:
      return { isTaken: true };
  }
}

function respond(world, at, request, { started, isTaken, page }) {
  const tab = world.tabs[at];
  const { kind, turn, key, call } = request;
  const delivery = isTaken ? "taken" : "refused";
  switch (kind) {
    case "createSession":
      tab.knowsSession = true;
      return world.tell(at, { kind: "sessionReady" });
    case "start":
      if (!started) {
        world.laws.failed(at, turn, "refused");
        return world.tell(at, { kind: "refused", turn });
      }
      tab.ids.set(turn, started.id);
      tab.watch(turn, started.id);
      return world.tell(at, { kind: "named", turn, id: started.id, previous: world.protocol.fork ? started.previous : null });
    case "steer":
      return world.tell(at, { kind: "steered", key, delivery });
    case "answer":
      if (!isTaken) world.laws.answerFailed(request.answer, "refused");
      return world.tell(at, { kind: "answered", turn, call, delivery });
    case "runTool":
      return world.tell(at, { kind: "toolEnded", turn, call, result: world.text() });
    case "load":
      return world.tell(at, { kind: "page", ...page });
  }
}

/** A request was not carried out, or it is not known whether it was. */
function fail(world, at, { kind, turn, key, call, answer, input }, delivery) {
  switch (kind) {
    case "createSession":
      return world.tell(at, { kind: "sessionFailed" });
    case "start":
      world.laws.failed(at, turn, delivery);
      return world.tell(at, { kind: delivery, turn });
    case "steer":
      if (delivery === "lost") world.laws.steerLost(input);
      return world.tell(at, { kind: "steered", key, delivery });
    case "cancel":
      return world.tell(at, { kind: "cancelFailed", turn });
    case "answer":
      // The turn's end has already reported that it waits for this.
      world.laws.answerFailed(answer, world.tabs[at].plan.turn(turn)?.state === "over" ? "refused" : delivery);
      return world.tell(at, { kind: "answered", turn, call, delivery });
    case "runTool":
      return world.tell(at, { kind: "toolEnded", turn, call, result: null });
    case "load":
      return world.tell(at, { kind: "pageFailed" });
  }
}

/** A request that its carrier has given up arrives. */
export function arriveLate(world, two) {
  if (world.late.length === 0) return;
  const [{ tab, request }] = world.late.splice(two % world.late.length, 1);
  arrive(world, tab, request);
  const text = request.kind === "start" ? request.input?.message : request.kind === "steer" ? request.input : undefined;
  if (text !== undefined) world.laws.cameLate(text);
}

/** A turn's stream delivers its news, or breaks for good. */
export function watch(world, at, one, two) {
  const tab = world.tabs[at];
  const watched = tab.watched[two % tab.watched.length];
  const served = watched && world.server.find(watched.id);
  if (!served) return;
  const { turn } = watched;
  if (!world.isCalm && one % 16 === 15) {
    tab.unwatch(turn);
    world.tell(at, { kind: "incomplete", turn });
    return;
  }
  const { state, said } = served;
  const calls = [...served.calls];
  const news = said.slice(watched.said);
  watched.said = said.length;
  for (const input of news) world.tell(at, { kind: "said", turn, input });
  if (state !== "running") {
    tab.unwatch(turn);
    world.tell(at, { kind: "ended", turn, end: state, calls });
    return;
  }
  const ids = calls.map(({ id }) => id);
  if (world.protocol.liveAnswers && String(ids) !== String(watched.calls)) {
    watched.calls = ids;
    world.tell(at, { kind: "waits", turn, calls });
  } else {
    world.tell(at, { kind: "active", turn, activity: ACTIVITIES[two % 4] });
  }
}
