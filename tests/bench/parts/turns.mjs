// Turns from their start to their end: which workload, in which wire, cut how, consumed how, by which candidates. The claims
// name rows by these fields.
import { startServer } from "../child.mjs";
import { RELAYED } from "../server.mjs";
import { cells } from "../table.mjs";

const CHUNKINGS = ["event", "random", "16 KiB"];
const BASELINE = ["drain", "plain", "turnwire"];

/** By the deltas of a turn: turns in one sample, so that it takes some ten milliseconds, and rounds. */
const EFFORT = { 50: [40, 15], 1_000: [8, 15], 10_000: [2, 9], 100_000: [1, 7] };
/** In place of any number of deltas where only the benchmark itself is checked. */
const FEW = 200;

/** TrueFoundry's wire in other forms, and other stories in its own. */
const VARIANTS = [
  { variant: "extra fields" },
  { variant: "other order" },
  { variant: "nulls" },
  { variant: "numbered" },
  { variant: "CRLF" },
  { variant: "escapes", wire: "own", story: (deltas) => ["polyglot", deltas] },
  { variant: "sub-agents", wire: "own", story: (deltas) => ["agents", deltas] },
  { variant: "large results", wire: "own", story: () => ["results", 20, 50_000] },
  { variant: "long answer", wire: "own", story: () => ["speech", 200, 1_000] },
];

/** The other families of protocols, with the story that each can tell. */
const FAMILIES = {
  tirea: (deltas) => ["talk", deltas],
  awaken: (deltas) => ["talk", deltas],
  aap: (deltas) => ["rounds", deltas],
  "ag-ui": (deltas) => ["talk", deltas],
  // Each delta has its whole message so far: messages of a few sentences.
  "turn-rpc": (deltas) => ["talk", deltas, 50],
  codex: (deltas) => ["talk", deltas],
};

/** Packages that speak wires of their own. */
export const PEERS = ["ai", "ag-ui", "openai", "anthropic"];

export const engines = ["Node", "Chromium"];

/** All rows; with `quick` with little work and one round. */
export function rows({ quick = false } = {}) {
  const row = ({ deltas, story, ...rest }) => {
    const count = quick ? FEW : deltas;
    const [turns, rounds] = quick ? [1, 1] : EFFORT[deltas];
    const warmups = quick ? 0 : 2;
    return { protocol: "truefoundry", deltas: count, story: story?.(count) ?? ["talk", count], candidates: BASELINE, turns, rounds, warmups, ...rest };
  };
  const own = (quick ? [1_000] : [50, 1_000, 10_000, 100_000]).flatMap((deltas) =>
    ["for await", "on", "subscribe", "wait"].flatMap((consumer) =>
      CHUNKINGS.map((chunking) => row({ group: "truefoundry", deltas, chunking, consumer })),
    ),
  );
  const variants = VARIANTS.flatMap(({ variant, wire = variant, story }) =>
    CHUNKINGS.map((chunking) => row({ group: "variants", variant, form: wire, story, deltas: 10_000, chunking, consumer: "for await" })),
  );
  const families = Object.entries(FAMILIES).flatMap(([protocol, story]) =>
    CHUNKINGS.map((chunking) => row({ group: protocol, protocol, story, deltas: 100_000, chunking, consumer: "for await" })),
  );
  const relayed = ["aap", "tirea"].flatMap((protocol) =>
    ["event", "16 KiB"].map((chunking) =>
      row({ group: RELAYED, variant: protocol, form: RELAYED, protocol, story: FAMILIES[protocol], deltas: 100_000, chunking, consumer: "for await" }),
    ),
  );
  // A WebSocket over this machine's network, whose messages come as they come.
  const sockets = ["turn-rpc", "codex"].map((protocol) =>
    row({ group: protocol, protocol, story: FAMILIES[protocol], deltas: 100_000, chunking: "loopback", consumer: "for await", engine: "Chromium", ...(!quick && { rounds: 3, warmups: 1 }) }),
  );
  const peers = PEERS.map((peer) =>
    row({ group: "peers", peer, deltas: 1_000, chunking: "event", consumer: "for await", candidates: [...BASELINE, peer] }),
  );
  return [...own, ...variants, ...families, ...relayed, ...sockets, ...peers].map((row) => ({ part: "turns", ...row, name: nameOf(row) }));
}

/** Measures one row. */
export async function measure(row, { page, modules }) {
  const server = row.chunking === "loopback" ? await startServer("rpc-server.mjs", row.protocol, JSON.stringify(row.story)) : undefined;
  const { samples, order, spans } = await page.timed("measure", { ...row, port: server?.port }, modules);
  await server?.stop();
  return { ...row, samples, processor: bySample(row.candidates, order, spans.map((span) => span / row.turns)) };
}

/** Values in the order in which samples were taken, by candidate and round. */
export function bySample(candidates, order, values) {
  return Object.fromEntries(candidates.map((candidate) => [candidate, values.filter((_, at) => order[at] === candidate)]));
}

/** What is printed of a result: milliseconds of processor time of a turn. */
export const line = ({ processor }) => cells(processor);

function nameOf({ group, variant, peer, deltas, chunking, consumer }) {
  return [group, variant ?? peer ?? `${deltas} deltas`, chunking, consumer].join(", ");
}
