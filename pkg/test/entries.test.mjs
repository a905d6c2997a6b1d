// The ways into the package in Node: a module, CommonJS, and the entry that is given its wasm.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { test } from "node:test";
import * as esm from "../dist/index.js";
import * as slim from "../dist/slim.js";
import { failure } from "./support/collect.mjs";

const require = createRequire(import.meta.url);
const BASE = { baseUrl: "http://127.0.0.1:9/acme" };

const PUBLIC = [
  "AbortError", "Agents", "ApiError", "Client", "ConnectionError", "IncompleteError", "InputError", "ModelMessageBuilder",
  "ProtocolError", "Session", "StateError", "Turn", "TurnwireError", "connect", "init", "isEventDelta", "mergeEventDelta",
];

test("every entry exports the same names", () => {
  assert.deepEqual(Object.keys(esm).sort(), PUBLIC);
  assert.deepEqual(Object.keys(slim).sort(), PUBLIC);
  assert.deepEqual(Object.keys(require("../dist/index.cjs")).sort(), PUBLIC);
  assert.deepEqual(Object.keys(require("../dist/slim.cjs")).sort(), PUBLIC);
});

test("classes keep their names", () => {
  for (const name of PUBLIC.filter((known) => /^[A-Z]/.test(known))) assert.equal(esm[name].name, name);
});

test("CommonJS works by itself", async () => {
  const cjs = require("../dist/index.cjs");
  await cjs.init();
  assert.equal((await cjs.connect(BASE)).baseUrl, BASE.baseUrl);
});

test("the slim entry wants its module, fails when it gets another, and can be tried again", async () => {
  assert.equal((await failure(slim.connect(BASE))).code, "wasm_missing");
  const error = await failure(slim.init(new Uint8Array([1, 2, 3])));
  assert.equal(error.code, "wasm_failed");
  assert.ok(error instanceof slim.TurnwireError && error.cause instanceof Error);
  await slim.init(readFile(new URL("../dist/core.wasm", import.meta.url)));
  assert.equal((await slim.connect(BASE)).baseUrl, BASE.baseUrl);
  await slim.init(new Uint8Array([1, 2, 3]));
});

test("several connects share one start, and make clients of their own", async () => {
  const [first, second] = await Promise.all([esm.connect(BASE), esm.connect(BASE), esm.init()]);
  assert.notEqual(first, second);
});
