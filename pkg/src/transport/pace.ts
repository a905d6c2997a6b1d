// Lets the page run while streams are read. The chunks that have already arrived are read in one task, however many.

/** How long to read without letting the page run, in milliseconds. Half a frame. */
const LONGEST_TURN = 8;

/**
 * After so many looks at the clock that all show the same time, so many chunks are read without a look. On some
 * machines a look takes a tenth of the time of a chunk.
 */
const UNTIMED = 16;

/** The number of streams that are read. They share all of this. */
let streams = 0;
/** The time at the last look. */
let now = 0;
/** How many looks before it showed the same time. */
let unmoved = 0;
/** How many chunks are read before the next look. */
let untimed = 0;
/** When the page last ran something else and streams were read again. */
let turnBegan = 0;
/** Resolves in the next task, if that was asked for. */
let task: Promise<void> | undefined;
/** Starts tasks. To create one takes five times as long as to use it, and an open one keeps processes alive. */
let channel: MessageChannel | undefined;

/** A stream begins. */
export function beginStream(): void {
  streams += 1;
}

/** A stream has ended. */
export function endStream(): void {
  streams -= 1;
  if (streams > 0) return;
  channel?.port1.close();
  channel = task = undefined;
  untimed = 0;
}

/** Returns when the chunk that is being read has arrived. */
export function arrivalTime(): number {
  if (untimed > 0) {
    untimed -= 1;
    return now;
  }
  const last = now;
  now = Date.now();
  unmoved = now === last ? unmoved + 1 : 0;
  if (unmoved >= UNTIMED) {
    untimed = UNTIMED;
    // A chunk that comes in a later task has its own time.
    nextTask();
  }
  return now;
}

/** Returns what to wait for before the next chunk is read, if the page should run first. */
export function pageTurn(): Promise<void> | undefined {
  // The wall clock may be set back.
  return Math.abs(now - turnBegan) > LONGEST_TURN ? nextTask() : undefined;
}

function nextTask(): Promise<void> {
  return (task ??= new Promise(startTask));
}

/** Calls `resolve` in a new task. Not by a timer, which hidden tabs delay. */
function startTask(resolve: () => void): void {
  const run = (): void => {
    turnBegan = Date.now();
    untimed = 0;
    task = undefined;
    resolve();
  };
  try {
    channel ??= new MessageChannel();
  } catch {
    // Some runtimes at the edge have no channels, and no hidden tabs either.
    return void setTimeout(run);
  }
  channel.port1.onmessage = run;
  channel.port2.postMessage(null);
}
