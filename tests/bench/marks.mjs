// The clock. Other programs take the processor away while something is measured, so that the time by the wall says as much of
// them as of what is measured. Chromium notes with each mark in its trace how much processor time the thread has used; Node
// tells that of the whole process.

const PREFIX = "bench ";
const isNode = globalThis.process?.cpuUsage !== undefined;

let noted = [];

/** Notes this moment. */
export function mark(name) {
  if (isNode) {
    const { user, system } = process.cpuUsage();
    noted.push({ name, time: (user + system) / 1000 });
    return;
  }
  performance.mark(PREFIX + name);
  performance.clearMarks(PREFIX + name);
}

/** The marks that were noted in Node: `{ name, time }`, processor time in milliseconds. */
export function takeMarks() {
  const marks = noted;
  noted = [];
  return marks;
}

/** From a trace the marks in their order: `{ name, time }`, the main thread's processor time in milliseconds. */
export function marksOf(traceEvents) {
  return traceEvents
    .filter(({ cat, name }) => cat === "blink.user_timing" && name.startsWith(PREFIX))
    .sort((a, b) => a.ts - b.ts)
    .map(({ name, tts }) => ({ name: name.slice(PREFIX.length), time: tts / 1000 }));
}

/** The time of each span from a `begin` to its `end`, without what lies between `pause` and `resume`. */
export function spansOf(marks) {
  const spans = [];
  let began = 0;
  let paused = 0;
  for (const { name, time } of marks) {
    if (name === "begin") [began, paused] = [time, 0];
    else if (name === "pause") paused -= time;
    else if (name === "resume") paused += time;
    else if (name === "end") spans.push(time - began - paused);
  }
  return spans;
}
