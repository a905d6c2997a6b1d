// The built package in headless Chromium against the real tirea server, through the relay, with a scripted
// model behind the server.
//
//     node main.mjs [WORD]      runs the cases whose names contain the word
//
// `cargo xtask interop tirea` installs and builds what it needs, and names the programs by TIREA_SERVER,
// TURNWIRE_GATEWAY and CHROME. The last line is `N passed, M failed`; the exit status is 0 only if nothing
// failed.
import { answers } from "./cases/answers.mjs";
import { approvals } from "./cases/approvals.mjs";
import { ends } from "./cases/ends.mjs";
import { server } from "./cases/server.mjs";
import { sessions } from "./cases/sessions.mjs";
import { runCases } from "./runner.mjs";
import { startWorld } from "./world.mjs";

const CASES = [...server, ...answers, ...approvals, ...ends, ...sessions];

const world = await startWorld();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.once(signal, () => void world.stop().finally(() => process.exit(1)));
}
try {
  process.exitCode = (await runCases(world, CASES, process.argv[2])) === 0 ? 0 : 1;
} finally {
  await world.stop();
}
