// Schedules: the actions that a seed draws, how they are played, and how a failing one is made shorter.
import { World } from "./world.mjs";

/** Whole numbers below a bound, from a seed (mulberry32). */
function randomly(seed) {
  // Seeds in a row begin far apart.
  let state = Math.imul(seed, 0x9e3779b1);
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound);
  };
}

/** The numbers of the actions: the first one of each kind, as `World.act` reads them. Requests, streams and the server go on in each schedule. */
const KINDS = [0, 7, 9, 13, 14, 17, 18, 21, 22, 23, 25, 26, 27, 43, 52, 60, 61, 62, 63, 64];
const ALWAYS = [27, 43, 52, 63];
/** Without this bit of an action's second number, no request and no stream is lost, and no turn ends at the server. */
const CUTS = 16;

/**
 * The case of a seed: the bits of the protocol, and the actions. An action is a number that says what is done, and two by
 * which it chooses; any schedule can be played. Each schedule leaves out some kinds of actions, so that the others coincide more
 * often; in some nothing is lost, in some turns last, and every other protocol can all.
 */
export function draw(seed) {
  const below = randomly(seed);
  const protocol = below(1 << 12) | (below(2) === 0 ? 0b1111 : 0);
  const drawn = KINDS.slice(0, -1).filter((kind) => ALWAYS.includes(kind) || below(3) > 0);
  const numbers = drawn.flatMap((kind) => Array.from({ length: KINDS[KINDS.indexOf(kind) + 1] - kind }, (_, at) => kind + at));
  const [isLossless, isSlow] = [below(3) === 0, below(2) === 0];
  const actions = Array.from({ length: 10 + below(90) }, () => {
    const [what, first, second] = [numbers[below(numbers.length)], below(1 << 16), below(1 << 16)];
    const isWhole = what < 52 ? what >= 27 && isLossless : what < 60 && isSlow && below(4) > 0;
    return [what, isWhole ? first & ~CUTS : first, second];
  });
  return { protocol, actions };
}

/** Plays a case. Returns the world; its `error` is what was broken. */
export function play({ protocol, actions }) {
  const world = new World(protocol);
  try {
    for (const action of actions) world.act(action);
    world.settle();
  } catch (error) {
    world.error = error;
  }
  return world;
}

/** The shortest schedule found that breaks something. */
export function shortened(broken) {
  let best = broken;
  for (let size = Math.ceil(best.actions.length / 2); ; size = Math.ceil(size / 2)) {
    let isShorter = false;
    for (let at = 0; at < best.actions.length; ) {
      const less = { ...best, actions: best.actions.toSpliced(at, size) };
      if (play(less).error) {
        best = less;
        isShorter = true;
      } else at += size;
    }
    if (size === 1 && !isShorter) return best;
  }
}
