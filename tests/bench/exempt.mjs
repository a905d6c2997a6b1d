// What the server in memory does for an answer is no candidate's work, and is not counted.
import { mark } from "./marks.mjs";

let spent = 0;

/** Does the server's work. */
export function exempt(work) {
  mark("pause");
  const began = performance.now();
  try {
    return work();
  } finally {
    spent += performance.now() - began;
    mark("resume");
  }
}

/** The milliseconds of such work since the last call. */
export function takeExempt() {
  const total = spent;
  spent = 0;
  return total;
}
