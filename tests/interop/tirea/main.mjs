// The built package in headless Chromium against the real tirea server, through the relay, with a scripted
// model behind the server.
//
//     node main.mjs [WORD]      runs the cases whose names contain the word
//
// `cargo xtask interop tirea` installs and builds what it needs, and names the programs by TIREA_SERVER,
// TURNWIRE_GATEWAY and CHROME. The last line is `N passed, M failed`; the exit status is 0 only if nothing
// failed.
import assert from "node:assert/strict";
import { inWorld, runCases } from "../runner.mjs";
import { TireaCase } from "./case.mjs";
import { answers } from "./cases/answers.mjs";
import { approvals } from "./cases/approvals.mjs";
import { ends } from "./cases/ends.mjs";
import { server } from "./cases/server.mjs";
import { sessions } from "./cases/sessions.mjs";
import { KEY, start } from "./world.mjs";

const CASES = [...server, ...answers, ...approvals, ...ends, ...sessions];

await inWorld(start, (world) => {
  const ours = () => {
    const keys = world.tap.records.map(({ headers }) => headers.authorization);
    assert.deepEqual([...new Set(keys)], [KEY]);
  };
  const last = [["relay: its key, and no page's, was on every request", ours]];
  return runCases(world, (page) => new TireaCase(world, page), CASES, last, process.argv[2]);
});
