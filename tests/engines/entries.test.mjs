// Every fault in Chromium, played with the entry that has its core as JavaScript.
import { CASES } from "./case-runner.mjs";
import { playInChromium } from "./in-chromium.mjs";

playInChromium("nowasm", "/?entry=nowasm", CASES);
