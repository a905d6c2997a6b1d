// The families of protocols: `families.json` lists them, and `package.json` has to repeat their names.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { families } from "../entries.mjs";

const { exports } = JSON.parse(readFileSync(join(import.meta.dirname, "..", "package.json"), "utf8"));

test("each family has an entry in the package, and no others are there", () => {
  const wanted = Object.keys(families).map((family) => `./${family}`);
  const others = [".", "./slim", "./nowasm", "./conversation", "./testing", "./core.wasm", "./package.json"];
  const bindings = ["./react", "./vue", "./svelte", "./solid", "./angular"];
  const adapters = ["./assistant-ui", "./ai"];
  assert.deepEqual(Object.keys(exports).sort(), [...wanted, ...others, ...bindings, ...adapters].sort());
  for (const family of Object.keys(families)) {
    const types = `./dist/types/entries/families/${family}`;
    const module = { types: `${types}.d.ts`, default: `./dist/${family}.js` };
    assert.deepEqual(exports[`./${family}`], {
      module,
      import: module,
      require: { types: `${types}.d.cts`, default: `./dist/${family}.cjs` },
    });
  }
});
