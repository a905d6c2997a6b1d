// Every fault in Chromium, played with the crate's own client in place of the package: the same cases, the same outcomes, and
// the same events and snapshots as the package has of an uncut turn.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { CASES } from "./case-runner.mjs";
import { playInChromium } from "./in-chromium.mjs";
import { CLASSES } from "./world.mjs";

/** What the crate does not have: a limit for a whole read, and listeners beside a wait. */
const isPossible = ({ plan }) => plan.by !== "waiting" && plan.stream?.deadline === undefined;

const possible = CASES.filter(isPossible);

test("few cases are left out", () => assert.ok(CASES.length - possible.length <= 6));

test("the crate's classes are built", () => assert.ok(existsSync(CLASSES), "`cargo xtask test --only engines` does that"));

playInChromium("crate", "/crate.html", possible);
