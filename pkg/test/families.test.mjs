// The families of protocols, which stand in `families.json`, and again where types need them literally.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..");
const read = (...path) => readFileSync(join(root, ...path), "utf8");
const families = JSON.parse(read("families.json"));

test("the protocols stand in the sources as the list of families has them", () => {
  const table = /export const CORES = \{([^}]*)\}/.exec(read("src", "boundary", "protocols.ts"))[1];
  const protocols = [...table.matchAll(/^\s+"?([\w-]+)"?: "([\w-]+)",$/gm)].map(([, protocol, family]) => [protocol, family]);
  const listed = Object.entries(families).flatMap(([family, names]) => names.map((protocol) => [protocol, family]));
  assert.deepEqual(protocols, listed);
});

test("each family has an entry and a module in the package, and is found by `turnwire`", () => {
  const { exports } = JSON.parse(read("package.json"));
  const index = read("src", "entries", "index.ts");
  for (const family of Object.keys(families)) {
    assert.ok(`./${family}` in exports && `./${family}.wasm` in exports, family);
    assert.ok(index.includes(`import("./${family}-core.js")`), family);
  }
});
