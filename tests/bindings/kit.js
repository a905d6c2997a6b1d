// What each framework's page has in common. A page passes its `mount(element, props)`, which shows the app and returns
// `{ update(props), unmount() }`. The app calls `drawn` whenever a component renders.
import { connect } from "turnwire";
import { openChat, openRunning } from "./chats.js";
import { makeConversation, makeSource } from "./source.js";

const counts = {};
/** All texts that readers have shown, in order. */
const texts = [];

/** Counts a rendering of a component; returns what it shows. */
export function drawn(component, text = "") {
  counts[component] = (counts[component] ?? 0) + 1;
  if (component === "reader") texts.push(text);
  return text;
}

/** What a reader shows: the source's name, and the value. */
export const label = (source, value) => `${source.name}: ${value}`;

/** Runs when the page is idle, or soon where a browser has no idle callbacks. */
const whenIdle = (act) => (globalThis.requestIdleCallback ? requestIdleCallback(act, { timeout: 2000 }) : setTimeout(act, 50));

/** Two frames, and the work after them: a framework on a slow machine delays its effects. */
export const frames = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => whenIdle(resolve))));

/** Installs `globalThis.bindings` for the tests. */
export function install(mount) {
  const root = document.body.appendChild(document.createElement("div"));
  /** Starts counting from zero. */
  const reset = () => {
    for (const name of Object.keys(counts)) delete counts[name];
    texts.length = 0;
  };
  const shown = () => [...root.querySelectorAll(".reader")].map((reader) => reader.textContent);
  /** What is shown when the first reader shows `text`, or after two seconds. */
  const reaches = async (text) => {
    for (const end = performance.now() + 2000; shown()[0] !== text && performance.now() < end; ) await frames();
    return shown();
  };
  globalThis.bindings = { mount: (props) => mount(root, props), makeConversation, makeSource, openChat, openRunning, frames, counts, texts, reset, shown, reaches, connect };
}
