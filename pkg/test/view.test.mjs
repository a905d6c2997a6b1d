// `turn.view`: the snapshot that all components of a frame see, and when the next one is published.
import assert from "node:assert/strict";
import { test } from "node:test";
import { frame as aapFrame, serveSession as serveAapSession, TURNS } from "./support/aap.mjs";
import { eventually } from "./support/collect.mjs";
import { CANCEL, events, LiveStream, serveTurn } from "./support/server.mjs";
import { answer, created, done, message, text } from "./support/wire.mjs";

/** Frames that come when the test says so. */
function useFrames(t) {
  let tasks = new Map();
  let asked = 0;
  const { requestAnimationFrame, cancelAnimationFrame } = globalThis;
  globalThis.requestAnimationFrame = (task) => (tasks.set((asked += 1), task), asked);
  globalThis.cancelAnimationFrame = (id) => tasks.delete(id);
  t.after(() => Object.assign(globalThis, { requestAnimationFrame, cancelAnimationFrame }));
  return {
    get asked() {
      return asked;
    },
    /** Calls what was scheduled. */
    next() {
      const now = tasks;
      tasks = new Map();
      for (const task of now.values()) task();
    },
  };
}

async function liveTurn(t) {
  const live = new LiveStream();
  const { turn } = await serveTurn(t, live.reply);
  return { live, turn, iterator: turn.stream() };
}

/** All turns share the next frame, so a test leaves nothing scheduled. */
async function leave(frames, ...turns) {
  for (const { iterator } of turns) await iterator.return();
  frames.next();
}

/** Sends events and waits until they were read. */
async function feed({ live, iterator }, ...list) {
  await live.send(...list);
  for (let count = 0; count < list.length; count += 1) await iterator.next();
}

const textOf = ({ threads }) => threads[0].messages.map(({ content }) => content).join("");

test("a view changes with the frame, and is the same object until then", async (t) => {
  const frames = useFrames(t);
  const live = await liveTurn(t);
  const { view, snapshot } = live.turn;
  const seen = [];
  view.subscribe(() => seen.push(view.get()));
  await feed(live, created(), message(), text("a"));
  frames.next();
  const before = view.get();
  await feed(live, text("b"));
  assert.equal(view.get(), before);
  assert.deepEqual([textOf(view.get()), textOf(snapshot())], ["a", "ab"]);
  frames.next();
  assert.equal(textOf(view.get()), "ab");
  assert.equal(view.get(), snapshot());
  assert.deepEqual(seen.map(textOf), ["a", "ab"]);
  await leave(frames, live);
});

test("all turns of a page are published in one frame", async (t) => {
  const frames = useFrames(t);
  const [one, other] = [await liveTurn(t), await liveTurn(t)];
  const told = [];
  one.turn.view.subscribe(() => told.push("one"));
  other.turn.view.subscribe(() => told.push("other"));
  await feed(one, created());
  await feed(other, created());
  assert.deepEqual([frames.asked, told], [1, []]);
  frames.next();
  assert.deepEqual(told, ["one", "other"]);
  await leave(frames, one, other);
});

test("without readers nothing is scheduled; a reader without a subscription costs one frame", async (t) => {
  const frames = useFrames(t);
  const live = await liveTurn(t);
  await feed(live, created(), message(), text("a"), text("b"));
  assert.equal(frames.asked, 0);
  const { view } = live.turn;
  assert.equal(textOf(view.get()), "ab");
  await feed(live, text("c"), text("d"));
  assert.equal(textOf(view.get()), "ab");
  assert.equal(frames.asked, 1);
  frames.next();
  await feed(live, text("e"));
  assert.equal(frames.asked, 1);
  assert.equal(textOf(view.get()), "abcde");
  await leave(frames, live);
});

test("a reader that leaves and returns between two changes sees the last one", async (t) => {
  const frames = useFrames(t);
  const live = await liveTurn(t);
  const { view } = live.turn;
  const unsubscribe = view.subscribe(() => {});
  view.get();
  await feed(live, created(), message(), text("a"));
  unsubscribe();
  assert.equal(textOf(view.get()), "a");
  await leave(frames, live);
});

test("without frames, as in a hidden tab or on a server, a timer publishes", async (t) => {
  const live = await liveTurn(t);
  const { view } = live.turn;
  await feed(live, created(), message());
  const told = new Promise((resolve) => view.subscribe(resolve));
  view.get();
  await feed(live, text("a"));
  assert.equal(textOf(view.get()), "");
  await told;
  assert.equal(textOf(view.get()), "a");
});

test("a view can be read before the turn starts, and the start is published in the same event", async (t) => {
  const frames = useFrames(t);
  const { turn } = await serveTurn(t, new LiveStream().reply);
  const { get, subscribe } = turn.view;
  assert.equal(get().status, "unstarted");
  assert.equal(get(), get());
  const seen = [];
  subscribe(() => seen.push(get().status));
  turn.stream();
  assert.deepEqual(seen, ["starting"]);
  frames.next();
  assert.deepEqual(seen, ["starting"]);
  assert.throws(() => subscribe(), { code: "invalid_option" });
});

test("a cancel that needs no server is published in the same event", async (t) => {
  const frames = useFrames(t);
  const live = new LiveStream();
  const { session } = await serveAapSession(t, { [TURNS]: live.reply });
  const turn = session.createTurn("One");
  turn.waitForCompletion().catch(() => {});
  await live.write(aapFrame("turn_start") + aapFrame("text_delta", { delta: "Fir" }));
  await eventually(() => turn.status === "running");
  const seen = [];
  turn.view.subscribe(() => seen.push(turn.view.get().status));
  frames.next();
  await turn.cancel();
  assert.deepEqual(seen, ["cancelled"]);
});

test("a cancel by the server is published when it resolves", async (t) => {
  useFrames(t);
  const live = new LiveStream();
  const end = done({ status: "cancelled", reason: "client-cancelled" });
  const { turn } = await serveTurn(t, live.reply, {
    routes: { [CANCEL]: async ({ response }) => {
      await live.send(end);
      await eventually(() => turn.status === "cancelled");
      response.writeHead(200, { "content-type": "application/json" });
      response.end("{}");
    } },
  });
  turn.waitForCompletion().catch(() => {});
  await live.send(created());
  await eventually(() => turn.status === "running");
  turn.view.subscribe(() => {});
  turn.view.get();
  await turn.cancel();
  assert.equal(turn.view.get().status, "cancelled");
});

test("the view of a turn that is over is its snapshot", async (t) => {
  const { turn } = await serveTurn(t, events(...answer("Hi")));
  await turn.waitForCompletion();
  assert.equal(turn.view.get(), turn.snapshot());
  assert.equal(turn.view.get().status, "done");
});
