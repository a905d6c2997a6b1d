// A component that reads a source, in each framework: when it renders, and its listeners.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FRAMEWORKS } from "./frameworks.mjs";
import { openApp, useApps } from "./world.mjs";

const world = useApps();

/** One test in the page of each framework; the page's function returns what is judged. */
function inEach(what, play, judge) {
  for (const name of Object.keys(FRAMEWORKS)) {
    test(`${name}: ${what}`, async () => {
      const page = await openApp(world, name);
      judge(await page.evaluate(play, name), name);
      assert.deepEqual(page.failures, []);
      await page.context().close();
    });
  }
}

inEach(
  "50 updates render the reader 50 times, its sibling and the app not once",
  async () => {
    const { mount, makeSource, frames, counts, reset, reaches } = bindings;
    const source = makeSource("one", 0);
    const app = mount({ source, other: makeSource("other", 0), readers: 1 });
    await frames();
    reset();
    const seen = [];
    for (let at = 1; at <= 50; at += 1) {
      source.set(at);
      seen.push((await reaches(`one: ${at}`))[0]);
    }
    const after = { ...counts };
    app.unmount();
    await frames();
    return { after, seen, left: source.listeners };
  },
  ({ after, seen, left }) => {
    assert.deepEqual(seen, Array.from({ length: 50 }, (_, at) => `one: ${at + 1}`));
    const { reader, "reader's commit": commits = 50, ...others } = after;
    // A reader whose rendering the compiler caches has fewer.
    assert.ok(reader === 50 && commits === 50, JSON.stringify(after));
    assert.deepEqual(others, {});
    assert.equal(left, 0);
  },
);

inEach(
  "updates of one frame render the reader once, with the last",
  async () => {
    const { mount, makeSource, frames, counts, reset, shown } = bindings;
    const source = makeSource("one", 0);
    mount({ source, other: makeSource("other", 0), readers: 1 });
    await frames();
    reset();
    for (let at = 1; at <= 50; at += 1) source.set(at);
    await frames();
    return { count: counts.reader, shown: shown() };
  },
  ({ count, shown }, name) => {
    assert.deepEqual(shown, ["one: 50"]);
    // Solid's effects run at once; they run once for each notification, which comes once a frame.
    assert.equal(count, name === "solid" ? 50 : 1);
  },
);

inEach(
  "a value that stays the same renders nothing",
  async () => {
    const { mount, makeSource, frames, counts, reset } = bindings;
    const source = makeSource("one", 7);
    mount({ source, other: makeSource("other", 0), readers: 1 });
    await frames();
    reset();
    for (let at = 1; at <= 5; at += 1) {
      source.set(7);
      await frames();
    }
    return counts;
  },
  (counts) => assert.deepEqual(counts, {}),
);

inEach(
  "another source is shown at once, and the one before has no listener",
  async () => {
    const { mount, makeSource, frames, texts, reset, shown } = bindings;
    const [one, two] = [makeSource("one", "one's"), makeSource("two", "two's")];
    const app = mount({ source: one, other: makeSource("other", 0), readers: 1 });
    await frames();
    const before = one.listeners;
    reset();
    app.update({ source: two });
    // Notified between the change of the source and its effects.
    one.set("one's, late");
    await frames();
    const swapped = { shown: shown(), listeners: [one.listeners, two.listeners] };
    one.set("one's, too late");
    two.set("two's next");
    await frames();
    const mixed = texts.filter((text) => !/^(\w+): \1's/.test(text));
    return { before, swapped, shown: shown(), mixed };
  },
  ({ before, swapped, shown, mixed }) => {
    assert.equal(before, 1);
    assert.deepEqual(swapped, { shown: ["two: two's"], listeners: [0, 1] });
    assert.deepEqual(shown, ["two: two's next"]);
    assert.deepEqual(mixed, [], "a rendering showed the value of another source");
  },
);

inEach(
  "an unmounted component leaves no listener, and comes back",
  async () => {
    const { mount, makeSource, frames, shown } = bindings;
    const source = makeSource("one", 1);
    const props = { source, other: makeSource("other", 0), readers: 3 };
    const app = mount(props);
    await frames();
    const mounted = source.listeners;
    app.unmount();
    await frames();
    const unmounted = source.listeners;
    source.set(2);
    mount(props);
    await frames();
    source.set(3);
    await frames();
    return { mounted, unmounted, shown: shown() };
  },
  ({ mounted, unmounted, shown }, name) => {
    // Svelte's readers share one listener.
    assert.equal(mounted, name === "svelte" ? 1 : 3);
    assert.equal(unmounted, 0);
    assert.deepEqual(shown, ["one: 3", "one: 3", "one: 3"]);
  },
);

const CHANGES = {
  "after it was read": async (name) => {
    const { mount, makeSource, reaches } = bindings;
    const source = makeSource("one", "old");
    // Svelte listens before it reads, so that nothing can come between.
    source.afterGet = () => (name === "svelte" ? queueMicrotask(() => source.set("new")) : source.set("new"));
    mount({ source, other: makeSource("other", 0), readers: 1 });
    return { shown: await reaches("one: new"), subscriptions: source.subscriptions };
  },
  "as it is subscribed to": async () => {
    const { mount, makeSource, reaches } = bindings;
    const source = makeSource("one", "old");
    source.atSubscribe = () => source.set("new");
    mount({ source, other: makeSource("other", 0), readers: 1 });
    return { shown: await reaches("one: new"), subscriptions: source.subscriptions };
  },
};

for (const [when, play] of Object.entries(CHANGES)) {
  inEach(`a source that changes ${when} is shown as it is`, play, ({ shown, subscriptions }) => {
    assert.deepEqual(shown, ["one: new"]);
    assert.equal(subscriptions, 1);
  });
}

test("svelte: a store", async () => {
  const page = await openApp(world, "svelte");
  const { seen, listeners } = await page.evaluate(async () => {
    const { mount, makeSource, frames, shown } = bindings;
    const [one, two] = [makeSource("one", 1), makeSource("two", 2)];
    one.atSubscribe = () => one.set("new");
    const app = mount({ source: one, stored: true });
    await frames();
    const seen = [...shown()];
    one.set(3);
    await frames();
    seen.push(...shown());
    app.update({ source: two });
    await frames();
    seen.push(...shown());
    const listeners = [one.listeners, two.listeners];
    app.unmount();
    await frames();
    return { seen, listeners: [...listeners, two.listeners] };
  });
  assert.deepEqual(seen, ["one: new", "one: 3", "two: 2"]);
  assert.deepEqual(listeners, [0, 1, 0]);
  assert.deepEqual(page.failures, []);
});
