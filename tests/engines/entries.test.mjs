// Every fault in Chromium, met by the entry with the core as JavaScript.
import { CASES } from "./case-runner.mjs";
import { playInChromium } from "./in-chromium.mjs";

playInChromium("nowasm", "/?entry=nowasm", CASES);
