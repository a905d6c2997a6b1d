// What a turn of 100,000 deltas takes of memory when it is over and still looked at: of JavaScript's heap, and of
// WebAssembly's memory, which grows in pages of 64 KiB and never shrinks. Chromium keeps texts that were decoded outside of
// the heap, and does not tell how large they are: Node's numbers are those of all texts.
const DELTAS = 100_000;
/** What the page does: drops each event, keeps all of them, or renders snapshots. */
const CONSUMERS = ["for await", "keep", "subscribe"];

export const engines = ["Node", "Chromium"];

/** All rows; with `quick` with few deltas. */
export function rows({ quick = false } = {}) {
  const deltas = quick ? 500 : DELTAS;
  return CONSUMERS.map((consumer) => ({
    part: "memory",
    group: "memory",
    name: `memory, ${deltas} deltas, ${consumer}`,
    protocol: "truefoundry",
    story: ["talk", deltas],
    chunking: "16 KiB",
    consumer,
    candidates: ["plain", "turnwire"],
    rounds: 1,
  }));
}

/** Measures one row: the bytes by candidate, `{ heap, wasm }`. */
export async function measure(row, { running, modules }) {
  const bytes = {};
  for (const candidate of row.candidates) {
    const page = await running.open();
    try {
      const told = { ...row, candidate };
      await page.call("prepareToHold", told, modules);
      const least = await page.call("wasmBytes");
      await page.call("hold", told);
      const wasm = (await page.call("wasmBytes")) - least;
      const held = await page.heapBytes();
      await page.call("drop");
      bytes[candidate] = { heap: held - (await page.heapBytes()), wasm, least };
    } finally {
      await page.close();
    }
  }
  return { ...row, bytes };
}

/** What is printed of a result. */
export function line({ bytes }) {
  const mb = (size) => `${(size / 1e6).toFixed(1)} MB`;
  return Object.entries(bytes)
    .map(([candidate, { heap, wasm, least }]) => `${candidate} ${mb(heap)} of heap${wasm > 0 ? `, ${mb(wasm)} of wasm beside ${mb(least)} that it has anyway` : ""}`)
    .join("   ");
}
