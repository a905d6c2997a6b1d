// The chart of the documentation: bars of processor time, as an SVG that is readable on light and on dark pages.

const WIDTH = 760;
const LABELS = 250;
const BAR = 18;
const GAP = 8;
const HEAD = 34;

const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #24292f }
  .head { font-weight: 600 }
  .own { fill: #0969da }
  .other { fill: #8c959f }
  .floor { fill: #d0d7de }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .own { fill: #4493f8 }
    .other { fill: #7d8590 }
    .floor { fill: #3d444d }
  }`;

/** The chart of a summary: microseconds of each event, for turns as they come from a server that flushes each event. */
export function chartOf(lines) {
  const line = Object.fromEntries(lines.map((line) => [line.key, line]));
  const long = [line.chunks, line["snapshots of chunks"]];
  const panels = [
    {
      head: "Microseconds of an event, 1,000 deltas, one event per chunk",
      bars: [
        { label: "reading the stream alone", value: line.short.drain, kind: "floor" },
        { label: "turnwire", value: line.short.turnwire, kind: "own" },
        { label: "plain JavaScript", value: line.short.other, kind: "other" },
        ...lines.filter(({ against }) => against !== "plain").map(({ against, other }) => ({ label: NAMES[against], value: other, kind: "other" })),
      ],
    },
    {
      head: "Microseconds of an event, 100,000 deltas, 16 KiB chunks",
      bars: ["for await", "snapshots"].flatMap((label, at) => [
        { label: `turnwire, ${label}`, value: long[at].turnwire / 100, kind: "own" },
        { label: `plain JavaScript, ${label}`, value: long[at].other / 100, kind: "other" },
      ]),
    },
  ];
  let y = 0;
  const parts = panels.map(({ head, bars }) => {
    const top = y;
    y += HEAD + bars.length * (BAR + GAP) + GAP;
    return panel(head, bars, top);
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" role="img" aria-label="${panels.map(({ head }) => head).join("; ")}">
<style>${STYLE}
</style>
${parts.join("\n")}
</svg>
`;
}

const NAMES = { anthropic: "@anthropic-ai/sdk", openai: "openai", "ag-ui": "@ag-ui/client", ai: "ai" };

function panel(head, bars, top) {
  const most = Math.max(...bars.map(({ value }) => value));
  const scale = (WIDTH - LABELS - 60) / most;
  const rows = bars.map(({ label, value, kind }, at) => {
    const y = top + HEAD + at * (BAR + GAP);
    const width = Math.max(1, value * scale).toFixed(1);
    return `<text x="${LABELS - 10}" y="${y + 13}" text-anchor="end">${label}</text><rect class="${kind}" x="${LABELS}" y="${y}" width="${width}" height="${BAR}" rx="2"/><text x="${(LABELS + Number(width) + 6).toFixed(1)}" y="${y + 13}">${value.toFixed(value < 10 ? 2 : 0)}</text>`;
  });
  return [`<text class="head" x="0" y="${top + 20}">${head}</text>`, ...rows].join("\n");
}
