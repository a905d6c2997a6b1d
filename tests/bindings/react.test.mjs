// What only React does to a component that reads a source: double rendering, suspending, dropped renderings, and rendering in slices.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FRAMEWORKS } from "./frameworks.mjs";
import { openApp, useApps } from "./world.mjs";

const REACTS = Object.keys(FRAMEWORKS).filter((name) => name.startsWith("react"));
/** How much longer a transition may take while its source changes each frame. */
const MOST_OF_REST = 1.3;

const world = useApps();

function inEach(what, play, judge) {
  for (const name of REACTS) {
    test(`${name}: ${what}`, async () => {
      const page = await openApp(world, name);
      judge(await page.evaluate(play));
      assert.deepEqual(page.failures, []);
      await page.context().close();
    });
  }
}

inEach(
  "in StrictMode, 20 components have 20 listeners, and then none",
  async () => {
    const { mount, makeSource, frames, reaches } = bindings;
    const source = makeSource("one", 0);
    const app = mount({ strict: true, source, other: makeSource("other", 0), readers: 20 });
    await frames();
    const mounted = source.listeners;
    source.set(1);
    const shown = await reaches("one: 1");
    app.unmount();
    await frames();
    return { mounted, shown, unmounted: source.listeners };
  },
  ({ mounted, shown, unmounted }) => {
    assert.equal(mounted, 20);
    assert.deepEqual(shown, Array(20).fill("one: 1"));
    assert.equal(unmounted, 0);
  },
);

inEach(
  "a component that suspends has no listener, and shows the newest when it goes on",
  async () => {
    const { mount, makeSource, frames, reaches } = bindings;
    const source = makeSource("one", 0);
    const gate = {};
    gate.promise = new Promise((resolve) => {
      gate.open = () => {
        gate.isOpen = true;
        resolve();
      };
    });
    const app = mount({ show: "Suspended", source, gate });
    await frames();
    const waiting = { listeners: source.listeners, text: document.querySelector(".fallback")?.textContent };
    source.set(1);
    gate.open();
    const shown = await reaches("one: 1");
    await frames();
    const listeners = source.listeners;
    app.unmount();
    await frames();
    return { waiting, shown, listeners, unmounted: source.listeners };
  },
  ({ waiting, shown, listeners, unmounted }) => {
    assert.deepEqual(waiting, { listeners: 0, text: "wait" });
    assert.deepEqual(shown, ["one: 1"]);
    assert.equal(listeners, 1);
    assert.equal(unmounted, 0);
  },
);

/** Goes to a page that renders 200 ms, in turn at rest and while the source changes each frame: the medians of `count` times. */
async function transitions({ external, count }) {
  const { mount, makeSource, frames } = bindings;
  const source = makeSource("one", 0);
  const control = {};
  mount({ show: "Pages", source, control, external });
  await frames();
  let changes = 0;
  let isChanging = false;
  const frame = () => {
    if (isChanging) source.set((changes += 1));
    requestAnimationFrame(frame);
  };
  frame();
  const timed = async (changing) => {
    isChanging = changing;
    const began = performance.now();
    await control.go();
    const took = performance.now() - began;
    isChanging = false;
    await frames();
    return took;
  };
  await timed(false);
  const times = { rest: [], changing: [] };
  for (let at = 0; at < count; at += 1) {
    times.rest.push(await timed(false));
    times.changing.push(await timed(true));
  }
  const median = (all) => all.sort((one, other) => one - other)[Math.floor(count / 2)];
  return { rest: median(times.rest), changing: median(times.changing), told: changes };
}

for (const name of REACTS) {
  test(`${name}: a transition is not delayed by a source that changes each frame`, async (context) => {
    const page = await openApp(world, name);
    const { rest, changing, told } = await page.evaluate(transitions, { external: false, count: 7 });
    context.diagnostic(`${rest.toFixed()} ms at rest, ${changing.toFixed()} ms with ${told} changes`);
    assert.ok(rest >= 200, `the page took ${rest} ms`);
    assert.ok(told > 20, `only ${told} changes`);
    assert.ok(changing <= MOST_OF_REST * rest, `${changing} ms; at rest ${rest} ms`);
    await page.context().close();
  });
}

test("the same with useSyncExternalStore is delayed", async (context) => {
  const page = await openApp(world, REACTS[0]);
  const { rest, changing } = await page.evaluate(transitions, { external: true, count: 1 });
  context.diagnostic(`${rest.toFixed()} ms at rest, ${changing.toFixed()} ms with changes`);
  assert.ok(changing > 3 * rest, `${changing} ms; at rest ${rest} ms`);
  await page.context().close();
});

inEach(
  "sixty readers show one version after each commit, and new ones agree a frame later",
  async () => {
    const { mount, makeSource, frames, shown } = bindings;
    const source = makeSource("one", 0);
    const control = {};
    const app = mount({ show: "Wall", source, control });
    await frames();
    /** When each reader was first seen, in frames. */
    const born = new WeakMap();
    let frame = 0;
    const versions = { commits: 0, torn: 0, seen: new Set(), mounts: 0 };
    const look = () => {
      const readers = [...document.querySelectorAll(".reader")];
      for (const reader of readers) if (!born.has(reader)) born.set(reader, frame);
      const old = new Set(readers.filter((reader) => frame - born.get(reader) > 1).map((reader) => reader.textContent));
      versions.commits += 1;
      if (old.size > 1) versions.torn += 1;
      for (const version of old) versions.seen.add(version);
    };
    // Runs after each commit, before the next task.
    const observer = new MutationObserver(look);
    observer.observe(document.body, { subtree: true, childList: true, characterData: true });
    const count = () => {
      frame += 1;
      requestAnimationFrame(count);
    };
    count();
    let version = 0;
    const changing = setInterval(() => source.set((version += 1)), 4);
    for (let at = 0; at < 5; at += 1) {
      const first = document.querySelector(".reader");
      control.turn();
      for (const end = performance.now() + 3000; document.contains(first) && performance.now() < end; ) await frames();
      versions.mounts += document.contains(first) ? 0 : 1;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    clearInterval(changing);
    await frames();
    await frames();
    const last = new Set(shown());
    const listeners = source.listeners;
    app.unmount();
    return { ...versions, seen: versions.seen.size, last: [...last], version: String(version), listeners };
  },
  ({ commits, torn, seen, mounts, last, version, listeners }) => {
    assert.equal(torn, 0, `${torn} of ${commits} commits`);
    assert.equal(mounts, 5);
    assert.ok(seen > 10, `only ${seen} versions`);
    assert.deepEqual(last, [version]);
    assert.equal(listeners, 60);
  },
);
