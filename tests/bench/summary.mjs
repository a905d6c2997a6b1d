// The few lines of a run that people read, as data: for the table and the chart of the documentation.
import { digits } from "./table.mjs";
import { median } from "./statistics.mjs";

const OWN = { part: "turns", group: "truefoundry", engine: "Chromium" };
const PEER = { part: "turns", group: "peers", engine: "Chromium" };

/** What is shown: rows by their fields, and beside whom. */
export const LINES = [
  { key: "events", what: "100,000 deltas, `for await`, one event per chunk", of: { ...OWN, deltas: 100_000, chunking: "event", consumer: "for await" } },
  { key: "chunks", what: "100,000 deltas, `for await`, 16 KiB chunks", of: { ...OWN, deltas: 100_000, chunking: "16 KiB", consumer: "for await" } },
  { key: "snapshots of events", what: "100,000 deltas, a snapshot per frame, one event per chunk", of: { ...OWN, deltas: 100_000, chunking: "event", consumer: "subscribe" } },
  { key: "snapshots of chunks", what: "100,000 deltas, a snapshot per frame, 16 KiB chunks", of: { ...OWN, deltas: 100_000, chunking: "16 KiB", consumer: "subscribe" } },
  { key: "short", what: "1,000 deltas, `for await`, one event per chunk", of: { ...OWN, deltas: 1_000, chunking: "event", consumer: "for await" } },
  { key: "sub-agents", what: "10,000 deltas of sub-agents with large tool results, 16 KiB chunks", of: { part: "turns", group: "variants", engine: "Chromium", variant: "sub-agents", chunking: "16 KiB" } },
  { key: "anthropic", what: "1,000 deltas, one event per chunk, with `@anthropic-ai/sdk`", of: { ...PEER, peer: "anthropic" }, against: "anthropic" },
  { key: "openai", what: "the same with `openai`", of: { ...PEER, peer: "openai" }, against: "openai" },
  { key: "ag-ui", what: "the same with `@ag-ui/client`", of: { ...PEER, peer: "ag-ui" }, against: "ag-ui" },
  { key: "ai", what: "the same with `ai`", of: { ...PEER, peer: "ai" }, against: "ai" },
];

/** The lines of a run that measured all of them: `{ key, what, turnwire, other, drain, times }`, in milliseconds. */
export function summaryOf(results) {
  return LINES.map(({ key, what, of, against = "plain" }) => {
    const row = results.find((row) => Object.entries(of).every(([field, wanted]) => row[field] === wanted));
    if (row === undefined) throw new Error(`the run did not measure: ${what}`);
    const { processor } = row;
    const [turnwire, other, drain] = ["turnwire", against, "drain"].map((candidate) => median(processor[candidate]));
    return { key, what, against, turnwire, other, drain, times: other / turnwire };
  });
}

/** The table, in Markdown. */
export function tableOf(lines) {
  const rows = lines.map(({ what, turnwire, other, times }) => `| ${what} | ${digits(turnwire)} ms | ${digits(other)} ms | ${times.toFixed(1)}× |`);
  return ["| | turnwire | the other | |", "|---|---|---|---|", ...rows].join("\n");
}

/** What the README says of speed: the best and the worst of the usual cases. */
export function numberOf(lines) {
  const times = (key) => lines.find((line) => line.key === key).times.toFixed(1);
  return (
    `- **${times("chunks")}×** as fast as plain JavaScript for a long answer in large chunks; ${times("short")}× for short events, one by one. ` +
    "[Benchmark](docs/bench.md)"
  );
}
