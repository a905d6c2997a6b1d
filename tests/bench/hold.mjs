// Runs inside of a page: consumes a turn and keeps what it came to, so that its memory can be measured.
import { serve } from "./server.mjs";
import * as stories from "./stories.mjs";

const memories = new Set();
let candidate;
let held;

watchMemories();

/** Prepares a candidate to consume this story, and lets it consume one, which is dropped. */
export async function prepareToHold({ protocol, story: [name, ...given], chunking, consumer, candidate: own }, modules) {
  const { url, packageUrl } = modules[own];
  const { prepare } = await import(url);
  const small = await prepare({ protocol, packageUrl, ...serve({ wire: protocol, chunking }, stories.talk(100)) });
  await (await small.ready()).consume(consumer);
  candidate = await prepare({ protocol, packageUrl, ...serve({ wire: protocol, chunking }, stories[name](...given)) });
}

/** Consumes the turn, and keeps it. */
export async function hold({ consumer }) {
  held = await (await candidate.ready()).consume(consumer);
}

/** Keeps it no longer. */
export function drop() {
  held = undefined;
}

/** The bytes of all memory that WebAssembly has. */
export function wasmBytes() {
  return [...memories].reduce((sum, memory) => sum + memory.buffer.byteLength, 0);
}

/** Notes the memory of each module that is instantiated, but for the one that makes the module of a core, and goes then. */
function watchMemories() {
  const note = (instance) => {
    if ("unpack" in instance.exports) return instance;
    for (const value of Object.values(instance.exports)) if (value instanceof WebAssembly.Memory) memories.add(value);
    return instance;
  };
  const { Instance, instantiate } = WebAssembly;
  WebAssembly.Instance = new Proxy(Instance, { construct: (target, given) => note(new target(...given)) });
  WebAssembly.instantiate = async (...given) => {
    const made = await instantiate(...given);
    note(made instanceof Instance ? made : made.instance);
    return made;
  };
}
