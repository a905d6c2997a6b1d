// Timers for Hermes' command line, whose own do not wait.
const soon = globalThis.setTimeout;
const waiting = new Map();
let lastId = 0;
let isTicking = false;

globalThis.setTimeout = (callback, delay = 0, ...args) => {
  waiting.set((lastId += 1), { at: Date.now() + delay, call: () => callback(...args) });
  if (!isTicking) soon(tick);
  isTicking = true;
  return lastId;
};
globalThis.clearTimeout = (id) => void waiting.delete(id);

function tick() {
  const now = Date.now();
  const due = [...waiting].filter(([, { at }]) => at <= now).sort(([, a], [, b]) => a.at - b.at);
  for (const [id, { call }] of due) if (waiting.delete(id)) call();
  isTicking = waiting.size > 0;
  if (isTicking) soon(tick);
}
