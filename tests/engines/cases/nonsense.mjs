// What no server should send: numbers that are invalid or run backwards, another turn's events, events
// after the end.
import { delivers, on, recovers, settles } from "./case.mjs";

const KINDS = ["backwards", "huge", "negative", "words", "none"];

const numbers = [
  recovers("numbers:backwards:4", on("create", "numbers:backwards:4")),
  ...KINDS.filter((kind) => kind !== "backwards").flatMap((kind) => [
    delivers(`numbers:${kind}`, on("create", `numbers:${kind}`)),
    delivers(`numbers:${kind}:5`, on("create", `numbers:${kind}:5`)),
  ]),
  ...KINDS.map((kind) => settles(`numbers:${kind}, always`, on("stream", `numbers:${kind}`, { times: 0 }))),
  ...KINDS.map((kind) =>
    settles(`numbers:${kind}:3 and eof:9, always`, on("stream", `numbers:${kind}:3+eof:9`, { times: 0 }), {
      connect: { reconnect: { maxAttempts: 3 } },
    }),
  ),
];

const strangers = [
  recovers("other-turn:4", on("create", "other-turn:4")),
  settles("other-turn:4, always", on("stream", "other-turn:4", { times: 0 }), {
    connect: { reconnect: { maxAttempts: 3 } },
  }),
  recovers("after-done:5", on("create", "after-done:5"), { cursors: [] }),
  recovers("after-done:5 when resumed", [on("create", "eof:3"), on("subscribe", "after-done:5")], { cursors: [3] }),
  recovers("two-dones", on("create", "two-dones"), { cursors: [] }),
  recovers("two-dones when resumed", [on("create", "eof:3"), on("subscribe", "two-dones")], { cursors: [3] }),
];

/** Every case of nonsense. */
export const NONSENSE = { numbers, strangers };
