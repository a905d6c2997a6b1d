// Pages that render a turn's view while it streams, and what they measure.
import { createElement, StrictMode, startTransition, useLayoutEffect, useState } from "react";
import { createRoot, hydrateRoot } from "react-dom/client";
import { Answer, useReadable } from "./readable.js";

const READERS = 60;

/** Keeps the processor busy, as a component that renders much does. */
function work(time) {
  const end = performance.now() + time;
  while (performance.now() < end);
}

/** The next frame was drawn; in a hidden tab, some time has passed. */
export const frame = () =>
  new Promise((resolve) => (document.hidden ? setTimeout(resolve, 50) : requestAnimationFrame(() => setTimeout(resolve))));

/** Waits until something holds that React does soon, at most 100 frames. */
async function settled(holds) {
  for (let left = 100; left > 0 && !holds(); left -= 1) await frame();
}

/** A turn that streams until it is cancelled. */
export async function streaming(client) {
  const session = await client.agents.createSession("support-bot");
  const turn = session.createTurn("long 100000");
  turn.waitForCompletion().catch(() => {});
  while (turn.snapshot().threads[0].messages.length === 0) await frame();
  return turn;
}

function Reader({ turn, cost, shown }) {
  const { last_sequence_number } = useReadable(turn.view);
  work(cost);
  return createElement("i", { "data-version": last_sequence_number, "data-shown": shown });
}

function Slow({ cost }) {
  work(cost);
  return null;
}

/** Renders a page whose number a transition changes. `rows` returns what the page of a number has. */
export function open(rows) {
  let setPage;
  let committed = () => {};
  function Page() {
    const [page, set] = useState(0);
    setPage = set;
    useLayoutEffect(() => committed(page), [page]);
    return createElement("main", null, rows(page));
  }
  const root = createRoot(document.querySelector("div"));
  root.render(createElement(Page));
  return {
    root,
    /** Goes to a page in a transition. Resolves with the time until it was shown, in milliseconds. */
    go(page) {
      const begun = performance.now();
      return new Promise((resolve) => {
        committed = (shown) => shown === page && resolve(performance.now() - begun);
        startTransition(() => setPage(page));
      });
    },
  };
}

const versions = () => new Set([...document.querySelectorAll("[data-version]")].map(({ dataset }) => dataset.version)).size;

/** What 60 readers show while transitions render them, and after they were mounted by one. */
export async function tearing(client) {
  const turn = await streaming(client);
  const readers = (shown) =>
    Array.from({ length: READERS }, (_, key) => createElement(Reader, { key: `${shown > 2}${key}`, turn, cost: 2, shown }));
  const page = open(readers);
  await frame();
  await frame();
  let most = 0;
  let commits = 0;
  const observer = new MutationObserver(() => {
    commits += 1;
    most = Math.max(most, versions());
  });
  observer.observe(document.querySelector("div"), { subtree: true, attributes: true, attributeFilter: ["data-version"] });
  await page.go(1);
  await page.go(2);
  observer.disconnect();
  const mounted = { most, commits };
  await page.go(3);
  await frame();
  await frame();
  const late = versions();
  await turn.cancel();
  return { mounted, late };
}

/** How long a transition of 200 ms takes, at rest and while the view of a turn changes in every frame. */
export async function transitions(client) {
  const measure = async (turn) => {
    let rendered = 0;
    const Text = () => {
      rendered += 1;
      return createElement("p", null, useReadable(turn.view).last_sequence_number);
    };
    const slow = (page) => Array.from({ length: 40 }, (_, key) => createElement(Slow, { key: `${page} ${key}`, cost: page && 5 }));
    const page = open((shown) => [createElement(Text, { key: "text" }), ...slow(shown)]);
    await frame();
    const times = [];
    for (let number = 1; number <= 3; number += 1) {
      times.push(await page.go(number));
      for (let rest = 0; rest < 5; rest += 1) await frame();
    }
    page.root.unmount();
    // Other work on the machine only adds to it.
    return { time: Math.min(...times), rendered };
  };
  const session = await client.agents.createSession("support-bot");
  const rest = await measure(session.createTurn("plain"));
  const turn = await streaming(client);
  const live = await measure(turn);
  await turn.cancel();
  return { rest, live };
}

/** 20 components of one turn in strict mode that come, go and return while it streams. */
export async function visits(client) {
  const turn = (await client.agents.createSession("support-bot")).createTurn("long 3000");
  const listeners = { now: 0 };
  const view = {
    get: turn.view.get,
    subscribe(listener) {
      listeners.now += 1;
      const stop = turn.view.subscribe(listener);
      return () => {
        listeners.now -= 1;
        stop();
      };
    },
  };
  const root = createRoot(document.querySelector("div"));
  const show = (count) =>
    root.render(createElement(StrictMode, null, Array.from({ length: count }, (_, key) => createElement(Answer, { key, turn: { view } }))));
  const shown = () => [...document.querySelectorAll("article")].map((article) => article.textContent);
  show(20);
  const whole = turn.waitForCompletion();
  while (!/\w{3}/.test(shown()[0]?.slice("long 3000".length) ?? "")) await frame();
  const during = listeners.now;
  show(0);
  await settled(() => listeners.now === 0);
  const away = listeners.now;
  const left = turn.snapshot().last_sequence_number;
  while (turn.snapshot().last_sequence_number === left && turn.status === "running") await frame();
  show(20);
  await settled(() => shown().length === 20);
  const back = new Set(shown()).size;
  await whole;
  while (document.querySelectorAll("article[data-status=done]").length < 20) await frame();
  const text = turn.snapshot().threads[0].messages.map(({ content }) => content).join("");
  const same = shown().every((one) => one === `long 3000${text}`);
  root.unmount();
  await settled(() => listeners.now === 0);
  return { during, away, back, same, after: listeners.now };
}

/** Takes over what a server has rendered, and then streams. */
export async function hydrate(client, html) {
  const element = document.querySelector("div");
  element.innerHTML = html;
  const before = element.firstElementChild;
  const turn = (await client.agents.createSession("support-bot")).createTurn("plain");
  const problems = [];
  hydrateRoot(element, createElement(Answer, { turn }), { onRecoverableError: (error) => problems.push(String(error)) });
  await frame();
  const kept = element.firstElementChild === before;
  await turn.waitForCompletion();
  // Where there are no frames, a timer publishes.
  while (!document.querySelector("article[data-status=done]")) await new Promise((resolve) => setTimeout(resolve, 20));
  const text = turn.snapshot().threads[0].messages.map(({ content }) => content).join("");
  return { problems, kept, same: element.textContent === `plain${text}`, length: text.length };
}
