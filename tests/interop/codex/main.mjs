// The built package in headless Chromium against the real Codex app-server, through the relay, with a scripted model
// behind the server.
//
//     node main.mjs [WORD]      runs the cases whose names contain the word
//
// `cargo xtask interop codex` installs and builds what it needs, and names the programs by TURNWIRE_GATEWAY and
// CHROME. The last line is `N passed, M failed`; the exit status is 0 only if nothing failed.
import assert from "node:assert/strict";
import { inWorld, runCases } from "../runner.mjs";
import { CodexCase } from "./case.mjs";
import { agents } from "./cases/agents.mjs";
import { answers } from "./cases/answers.mjs";
import { approvals } from "./cases/approvals.mjs";
import { breaks } from "./cases/breaks.mjs";
import { ends } from "./cases/ends.mjs";
import { files } from "./cases/files.mjs";
import { pages } from "./cases/pages.mjs";
import { server } from "./cases/server.mjs";
import { sessions } from "./cases/sessions.mjs";
import { steering } from "./cases/steering.mjs";
import { tools } from "./cases/tools.mjs";
import { KEY, start } from "./world.mjs";

const CASES = [...server, ...answers, ...approvals, ...agents, ...files, ...tools, ...steering, ...pages, ...ends, ...breaks, ...sessions];

await inWorld(start, (world) => {
  const heads = () => {
    assert.ok(world.tap.sockets.length > 0);
    for (const { head } of world.tap.sockets) {
      assert.match(head, new RegExp(`^authorization: Bearer ${KEY}\\r?$`, "im"));
      assert.doesNotMatch(head, /^origin:/im);
    }
  };
  const last = [["relay: its key was on every connection, and no origin", heads]];
  return runCases(world, (page) => new CodexCase(world, page), CASES, last, process.argv[2]);
});
