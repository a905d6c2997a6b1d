// The same cases where the server numbers its events in their JSON, as in the vendor's reference pages, and writes
// no `id:`; and servers that do both.
import { on, recovers } from "./case.mjs";
import { ANSWERS } from "./answers.mjs";
import { NONSENSE } from "./nonsense.mjs";
import { STREAMS } from "./streams.mjs";

const HEADER = "x-turnwire-numbers";

/** The prefix of all names of cases here. */
const PREFIX = "json numbers: ";

const inJson = ({ name, plan, ...rest }) => ({
  name: `${PREFIX}${name}`,
  plan: { ...plan, headers: { ...plan.headers, [HEADER]: "json" } },
  ...rest,
});

/** Answers in place of a stream have no numbers, but what follows from them may be a stream or a list. */
const expired = ANSWERS.resuming.filter(({ name }) => name.includes("412"));

const groups = Object.entries({ ...STREAMS, ...NONSENSE, resuming: expired });

const both = (name, faults, options) =>
  recovers(`${PREFIX}${name}`, faults, { headers: { [HEADER]: name.split(",")[0] }, ...options });

const beside = [
  both("both", [], { cursors: [] }),
  both("both, eof:3", on("create", "eof:3"), { cursors: [3] }),
  both("both, gap:4:1", on("create", "gap:4:1"), { cursors: [3] }),
  both("different", [], { cursors: [], mismatch: [{ id: 1, sequence_number: 1001 }] }),
  both("different, eof:3 twice", on("stream", "eof:3", { times: 2 }), {
    cursors: [3, 6],
    mismatch: [{ id: 1, sequence_number: 1001 }],
  }),
];

/** Groups of cases: `[group, cases]`. */
export const NUMBERED = [...groups.map(([group, cases]) => [group, cases.map(inJson)]), ["beside an id", beside]];
