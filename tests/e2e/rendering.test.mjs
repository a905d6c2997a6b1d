// What a rendering page relies on: frames, timers where there are no frames, and the contract of a view.
import assert from "node:assert/strict";
import { test } from "node:test";
import { useWorld } from "./harness.mjs";
import { openKit } from "./kit.mjs";

const world = useWorld();

test("a subscriber is notified at most once per frame, and of the last change", async () => {
  const page = await openKit(world);
  const { tooOften, frames, shown, text } = await page.evaluate(async () => {
    const turn = (await kit.session()).createTurn({ input: "long 20000" });
    const frames = new Set();
    let frame = 0;
    let shown;
    // Where no frame comes in time, a timer notifies: a second time in one frame, but not soon.
    const LATE_MS = 200;
    let before = -LATE_MS;
    let tooOften = 0;
    const count = () => {
      frame += 1;
      if (turn.status !== "done" || shown !== turn.snapshot()) requestAnimationFrame(count);
    };
    requestAnimationFrame(count);
    const over = new Promise((resolve) => {
      turn.subscribe(() => {
        const now = performance.now();
        if (frames.has(frame) && now - before < LATE_MS) tooOften += 1;
        frames.add(frame);
        before = now;
        shown = turn.snapshot();
        if (shown.status === "done") resolve();
      });
    });
    await turn.waitForCompletion();
    await over;
    return { tooOften, frames: frames.size, shown: shown.threads[0].messages[0].content, text: kit.text(turn) };
  });
  assert.equal(tooOften, 0);
  assert.ok(frames < 2000, `${frames} renderings for 20,000 events`);
  assert.equal(shown, text);
});

test("where frames never come, as in a hidden tab, a timer notifies", async () => {
  const page = await openKit(world, (opened) =>
    opened.addInitScript(() => {
      globalThis.asked = 0;
      globalThis.requestAnimationFrame = () => (asked += 1);
      Object.defineProperty(document, "hidden", { get: () => true });
      Object.defineProperty(document, "visibilityState", { get: () => "hidden" });
    }),
  );
  const { status, text, told, frames } = await page.evaluate(async () => {
    const turn = (await kit.session()).createTurn({ input: "plain" });
    let told = 0;
    const over = new Promise((resolve) => {
      turn.subscribe(() => {
        told += 1;
        if (turn.snapshot().status === "done") resolve();
      });
    });
    await turn.waitForCompletion();
    await over;
    return { status: turn.status, text: kit.text(turn), told, frames: asked };
  });
  assert.equal(status, "done");
  assert.match(text, /^Here is a plain answer/);
  assert.ok(told >= 1 && told < 20, `told ${told} times`);
  assert.ok(frames >= told, "the frame is asked for as well: the tab may be shown again");
});

test("a view changes only when it notifies", async () => {
  const page = await openKit(world);
  const { rendered, tearing, late, text, after } = await page.evaluate(async () => {
    const turn = (await kit.session({ headers: { "x-turnwire-delay-ms": "1" } })).createTurn({ input: "long 300" });
    // What components do: read while rendering, subscribe after it, read again, and read at each notification.
    const { subscribe, get } = turn.view;
    const rendered = [];
    let tearing = 0;
    const render = () => {
      const value = get();
      if (!Object.is(value, rendered.at(-1))) rendered.push(value);
    };
    render();
    const unsubscribe = subscribe(render);
    render();
    // A read at another time returns the last rendered value.
    const reading = setInterval(() => (tearing += Number(!Object.is(get(), rendered.at(-1)))), 1);
    await turn.waitForCompletion();
    await new Promise((resolve) => {
      const check = () => (rendered.at(-1).status === "done" ? resolve() : requestAnimationFrame(check));
      check();
    });
    unsubscribe();
    clearInterval(reading);
    const count = rendered.length;
    await turn.state();
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    const lengths = rendered.map((value) => value.threads[0].messages[0]?.content.length ?? 0);
    return {
      rendered: lengths,
      tearing,
      late: rendered.length - count,
      text: rendered.at(-1).threads[0].messages[0].content === kit.text(turn),
      after: rendered.every((value) => Object.isFrozen(value)),
    };
  });
  assert.equal(tearing, 0);
  assert.equal(late, 0);
  assert.ok(text && after);
  assert.ok(rendered.length > 3, `${rendered.length} renderings`);
  assert.deepEqual(rendered, rendered.toSorted((one, other) => one - other));
});

test("a page that only renders makes no event objects, and misses nothing", async () => {
  const page = await openKit(world);
  const text = await page.evaluate(async () => {
    const turn = (await kit.session()).createTurn({ input: "unicode" });
    const off = turn.subscribe(() => {});
    await turn.waitForCompletion();
    off();
    const other = (await kit.session()).createTurn({ input: "unicode" });
    await kit.stream(other);
    return kit.text(turn) === kit.text(other);
  });
  assert.equal(text, true);
});

test("listeners and the loop in a page receive the same events", async () => {
  const page = await openKit(world);
  const { same, deltas, failures } = await page.evaluate(async () => {
    const turn = (await kit.session()).createTurn({ input: "tools" });
    const heard = [];
    let deltas = 0;
    turn.on("event", (event) => heard.push(event));
    turn.on("model.message.delta", () => (deltas += 1));
    turn.on("event", () => {
      throw new Error("a listener's own");
    });
    const { events } = await kit.stream(turn);
    const same = heard.length === events.length && heard.every((event, at) => event === events[at]);
    return { same, deltas: deltas > 0 && deltas === events.filter((event) => event.type === "model.message.delta").length, failures: events.length };
  });
  assert.ok(same && deltas);
  // What listeners throw surfaces as uncaught errors, one for each event. The browser may report them later.
  for (let left = 50; left > 0 && page.failures.length < failures; left -= 1) await page.waitForTimeout(100);
  assert.equal(page.failures.length, failures);
});
