// Plays cases: several at once, each reported when it has settled.
import { told } from "./report.js";

/** Plays cases on a test's order: `play(plan, controller)` returns the report of one. */
export function offer(play) {
  const reports = [];
  const running = new Map();
  globalThis.player = {
    /** Begins to play; the report comes with a later `take()`. */
    start(id, plan) {
      const controller = new AbortController();
      running.set(id, controller);
      play(plan, controller).finally(() => running.delete(id)).then(
        (report) => reports.push([id, { report }]),
        (error) => reports.push([id, { failure: JSON.stringify(told(error)) }]),
      );
    },
    /** Abandons a case that does not end, so that it blocks no connection. */
    drop: (id) => running.get(id)?.abort(),
    /** The reports that have come since the last time. */
    take: () => reports.splice(0),
  };
}
