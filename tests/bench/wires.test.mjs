// The wires of the benchmark against recorded traffic of the real servers: whatever is written here has the members of a
// recorded frame of its type, in the same order.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import * as stories from "./stories.mjs";
import { WIRES } from "./wires.mjs";

const FIXTURES = new URL("../fixtures/", import.meta.url);
const read = (name) => readFileSync(new URL(name, FIXTURES), "utf8");
const all = (folder, pattern) => readdirSync(new URL(folder, FIXTURES)).filter((name) => pattern.test(name)).map((name) => read(folder + name)).join("\n");

/** The members of an object in their order, with those of the objects in it; ids that are members do not count. */
function shape(value) {
  if (Array.isArray(value)) return value.length > 0 ? `[${shape(value[0])}]` : "[]";
  if (typeof value !== "object" || value === null) return "";
  return `{${Object.entries(value).map(([name, member]) => `${name}${shape(member)}`).join(",")}}`;
}

/** The frames of an event stream: the fields' names, and the data's shape. */
function frames(text, only = () => true) {
  return text.split(/\n\n/).flatMap((frame) => {
    // Not `.`, which ends at U+2028 as well.
    const data = /^data: ([^\n]*)$/m.exec(frame)?.[1];
    if (data === undefined) return [];
    const event = JSON.parse(data);
    const fields = frame.trim().split("\n").map((line) => line.slice(0, line.indexOf(":")));
    return only(event) ? [`${fields} ${/^event: (.*)$/m.exec(frame)?.[1] ?? event.type ?? event.event_type} ${shape(event)}`] : [];
  });
}

/** What a recorded socket's server said. */
function messages(text) {
  const frames = text.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line)).filter(({ dir }) => dir === "S->C");
  return frames.map(({ frame }) => `${frame.method} ${shape(frame)}`);
}

function assertKnown(written, recorded) {
  const known = new Set(recorded);
  for (const frame of new Set(written)) {
    const [fields, type] = frame.split(" ");
    assert.ok(known.has(frame), `${frame}\nis none of\n${[...known].filter((other) => other.includes(`${fields} ${type}`) || other.startsWith(`${fields} `)).join("\n")}`);
  }
}

test("TrueFoundry, as the gateway writes it", () => {
  const recorded = frames(all("truefoundry/", /\.sse$/));
  for (const [name, ...given] of [["talk", 20], ["agents", 500]]) {
    // What a sub-agent comes to depends on what it said last.
    const written = frames(WIRES.truefoundry.frames(stories[name](...given)).join(""), ({ type }) => type !== "thread.done");
    assertKnown(written, recorded);
  }
});

test("tirea and awaken", () => {
  for (const wire of ["tirea", "awaken"]) {
    assertKnown(frames(WIRES[wire].frames(stories.talk(20)).join("")), frames(all(`agent-event/${wire}/`, /\.sse$/)));
  }
});

test("the Agent Application Protocol", () => {
  const recorded = frames(all("aap/", /\.sse$/).replaceAll("\r", "").replace(/^HTTP[^]*?\n\n/gm, ""));
  const written = frames(WIRES.aap.frames(stories.rounds(20, 10)).join(""));
  // What a call is given is the tool's own.
  const ownInput = (frame) => frame.replace(/input\{[^}]*\}/, "input");
  assertKnown(written.map(ownInput), recorded.map(ownInput));
});

test("turn-rpc and Codex", () => {
  const texts = (name) => all("turn-rpc/", new RegExp(`^${name}-.*\\.jsonl$`));
  const about = (frame) => !/error|blocks\[\]/.test(frame);
  assertKnown(WIRES["turn-rpc"].frames(stories.talk(20)).map((text) => `${JSON.parse(text).method} ${shape(JSON.parse(text))}`).filter(about), messages(texts("derived")));
  const written = WIRES.codex.frames(stories.talk(20)).map((text) => `${JSON.parse(text).method} ${shape(JSON.parse(text))}`);
  assertKnown(written.filter((frame) => !frame.startsWith("turn/completed")), messages(texts("codex")));
});
