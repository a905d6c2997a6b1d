// All cases, by subject.
import { ANSWERS } from "./answers.mjs";
import { NONSENSE } from "./nonsense.mjs";
import { NUMBERED } from "./numbered.mjs";
import { STREAMS } from "./streams.mjs";

/** Groups of cases: `[group, cases]`. */
export const GROUPS = [...Object.entries({ ...STREAMS, ...ANSWERS, ...NONSENSE }), ...NUMBERED];

/** The gateway's kinds of fault. Each must be in some case. */
export const KINDS = [
  ...["status", "text-status", "late-status", "refuse", "lost", "slow-head"],
  ...["portal", "redirect", "redirect-portal", "type", "half"],
  ...["eof", "eof-bytes", "reset", "reset-bytes", "cut-char", "stall", "stall-bytes", "comments"],
  ...["duplicate", "replay", "restart", "reorder", "gap", "hole", "retry", "giant"],
  ...["numbers", "other-turn", "after-done", "two-dones", "no-done"],
];

/** The statuses that have a rule of their own, on a start and on a subscription. */
export const STATUSES = [400, 401, 403, 404, 408, 409, 412, 422, 425, 429, 500, 502, 503, 504];
