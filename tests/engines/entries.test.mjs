// Every fault in Chromium, met by the package's other entries: with the core as JavaScript, and with responses that are
// read in a worker.
import { CASES } from "./case-runner.mjs";
import { playInChromium } from "./in-chromium.mjs";

for (const entry of ["nowasm", "worker"]) playInChromium(entry, `/?entry=${entry}`, CASES);
