// What is claimed of turnwire, as data. All of it is judged in Chromium and within one run, by medians over alternating rounds.
//
// `of` names rows by their fields; the worst of them counts. Kinds:
//   faster   so many times as fast as `against`, or more; `above`: beyond the time of draining the same stream
//   later    at most so many milliseconds longer than `against`, by the least time by the wall
//   growth   the last tenth of a turn costs at most so many times the first
//   share    at most so many times the share of the main thread's time that `against` takes, both beyond what `above` takes
//   frame    a frame of a chat page runs scripts for at most so many times as long as `against`
//   late     at most so large a part of a chat page's frames comes late
//   goes     a page that renders for 200 ms opens at most so many times as late while an answer streams as at rest
//   start    from import to the first event at most so many milliseconds later than `against`
//   least    a conversation takes at most so many milliseconds for `what`, by the least time by the wall
//   bytes    a page of one protocol downloads at most so many KB (1,024 bytes) of the package, compressed

const OWN = { part: "turns", group: "truefoundry" };

/** Chat pages at a pace that people read. */
const CHAT = { part: "chat", rate: 400 };

/** The three ways in which streams are cut, with a number for each. */
const byChunking = (name, kind, of, [event, random, whole], more) => [
  { name: `${name}, one event per chunk`, kind, of: { ...of, chunking: "event" }, bound: event, ...more },
  { name: `${name}, random chunks`, kind, of: { ...of, chunking: "random" }, bound: random, ...more },
  { name: `${name}, 16 KiB chunks`, kind, of: { ...of, chunking: "16 KiB" }, bound: whole, ...more },
];

const PLAIN = { against: "plain" };

export const CLAIMS = [
  ...byChunking("for await, 100,000 deltas", "faster", { ...OWN, deltas: 100_000, consumer: "for await" }, [1.7, 2.3, 4], PLAIN),
  ...byChunking("for await, 100,000 deltas, above drain", "faster", { ...OWN, deltas: 100_000, consumer: "for await" }, [3, 3, 4], { ...PLAIN, above: "drain" }),
  ...byChunking("snapshots, 100,000 deltas", "faster", { ...OWN, deltas: 100_000, consumer: "subscribe" }, [1.9, 3, 8], PLAIN),
  ...byChunking("1,000 deltas", "faster", { ...OWN, deltas: 1_000, consumer: "for await" }, [1.5, 1.8, 2.5], PLAIN),
  { name: "50 deltas, the whole turn", kind: "later", of: { ...OWN, deltas: 50 }, bound: 0.3, ...PLAIN },
  ...["extra fields", "other order", "nulls", "numbered", "CRLF", "escapes", "sub-agents"].map((variant) => ({
    name: `TrueFoundry's wire, ${variant}`, kind: "faster", of: { part: "turns", group: "variants", variant }, bound: 1.5, ...PLAIN,
  })),
  ...["large results", "long answer"].map((variant) => ({
    name: `TrueFoundry's wire, ${variant}`, kind: "faster", of: { part: "turns", group: "variants", variant }, bound: 1, ...PLAIN,
  })),
  ...["tirea", "awaken", "aap", "turn-rpc", "codex"].flatMap((group) => [
    { name: `${group}, 100,000 deltas, 16 KiB chunks`, kind: "faster", of: { part: "turns", group, chunking: "16 KiB" }, bound: 2.5, ...PLAIN },
    { name: `${group}, 100,000 deltas, one event per chunk`, kind: "faster", of: { part: "turns", group, chunking: "event" }, bound: 1.3, ...PLAIN },
  ]),
  // But for turns of 50 deltas, of which the claim above is.
  { name: "never slower", kind: "faster", of: { part: "turns", deltas: [1_000, 10_000, 100_000] }, bound: 1, ...PLAIN },
  ...Object.entries({ ai: 40, "ag-ui": 20, openai: 3, anthropic: 2.5 }).map(([peer, bound]) => ({
    name: `${peer}, 1,000 deltas`, kind: "faster", of: { part: "turns", peer }, against: peer, bound,
  })),
  { name: "growth", kind: "growth", of: { part: "growth" }, bound: 1.2 },
  { name: "main thread at 10,000 events/s", kind: "share", of: { part: "page", rate: 10_000 }, above: "drain", bound: 0.5, ...PLAIN },
  ...Object.entries({ "use-chat": 0.2, "use-chat-memo": 0.5, "assistant-ui": 0.1 }).map(([against, bound]) => ({
    name: `chat, 1,000 messages, scripting of a frame, ${against}`, kind: "frame", of: { ...CHAT, earlier: 1_000 }, against, bound,
  })),
  { name: "chat, 100,000 deltas, late frames", kind: "late", of: { part: "chat", rate: 10_000 }, bound: 1 },
  { name: "chat, another page while an answer streams", kind: "goes", of: { ...CHAT, earlier: 1_000 }, bound: 1.3 },
  { name: "start, cold", kind: "start", of: { part: "start", cache: "cold" }, bound: 15, ...PLAIN },
  ...Object.entries({ dehydrated: 30, read: 100 }).map(([what, bound]) => ({
    name: `first rows of 1,000 turns, ${what}`, kind: "least", of: { part: "conversation", turns: 1_000 }, what, bound,
  })),
  { name: "a frame of a conversation, any number of turns", kind: "least", of: { part: "conversation" }, what: "frame", bound: 0.15 },
  ...Object.entries({ truefoundry: 52, aap: 66, "agent-event": 84, "turn-rpc": 86, "ag-ui": 66 }).map(([family, bound]) => ({
    name: `bytes of a page, ${family}`, kind: "bytes", of: { part: "bytes" }, family, bound,
  })),
];
