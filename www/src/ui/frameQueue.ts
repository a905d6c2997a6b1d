// Runs work in slices: jobs share a small time budget per animation frame, so that a large backlog never becomes a long
// task. The budget adapts to the machine: it begins small, while the code is cold, and shrinks when frames are late.

/**
 * A job works until `deadline` (a `performance.now()` time) and returns true while it has more to do. It must always
 * make some progress, even after the deadline. `pace`, above 0 and at most 1, is the fraction of its usual work that
 * the page can take in this frame.
 */
export type Job = (deadline: number, pace: number) => boolean;

/** Half a frame at 60 Hz: the other half is for React, layout and paint. */
const BUDGET_MS = 6;
/** A frame that comes later than this after the one before it had too much work, in milliseconds. */
const LATE_MS = 30;
const SLOWEST = 0.2;

const jobs = new Set<Job>();
let frame = 0;
let pace = SLOWEST;
/** When the last frame ran; 0 if the queue was empty since. */
let lastFrame = 0;

/** Runs `job` in the next frame, and in those after it until it returns false. */
export function enqueue(job: Job): void {
  jobs.add(job);
  if (frame === 0) frame = requestAnimationFrame(runFrame);
}

/** Removes `job`, whether it is queued or not. */
export function dequeue(job: Job): void {
  jobs.delete(job);
}

let mountDeadline = 0;

/** The time until which everything that first appears in this frame may work before it must queue. */
export function frameDeadline(): number {
  if (mountDeadline === 0) {
    mountDeadline = performance.now() + BUDGET_MS;
    requestAnimationFrame(() => {
      mountDeadline = 0;
    });
  }
  return mountDeadline;
}

function runFrame(time: number): void {
  frame = 0;
  if (lastFrame > 0) pace = time - lastFrame > LATE_MS ? Math.max(SLOWEST, pace / 2) : Math.min(1, pace * 1.2);
  lastFrame = time;

  const deadline = performance.now() + BUDGET_MS * pace;
  for (const job of [...jobs]) {
    // Move it to the end, so that in the next frame another one comes first.
    jobs.delete(job);
    if (job(deadline, pace)) jobs.add(job);
    if (performance.now() >= deadline) break;
  }
  if (jobs.size === 0) lastFrame = 0;
  else if (frame === 0) frame = requestAnimationFrame(runFrame);
}
