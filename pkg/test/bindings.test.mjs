// The bindings of frameworks as files: what each imports and exports, and that a page without a framework loads none of them.
// tests/bindings tests them in pages.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { build } from "esbuild";

const DIST = join(import.meta.dirname, "..", "dist");
/** The bindings and the adapters: the packages that each imports, and whether `require` finds them. */
const BINDINGS = {
  react: {
    framework: "react",
    names: "useCall useConversation useDraft useMessage usePending useQueue useReadable useRows useStatus useThread useTurn".split(" "),
    isCommon: true,
  },
  vue: { framework: "vue", names: ["useConversation", "useReadable"], isCommon: true },
  svelte: { framework: "svelte/reactivity", names: ["read", "store"], isCommon: false },
  solid: { framework: "solid-js", names: ["useConversation", "useReadable"], isCommon: true },
  angular: { framework: "@angular/core", names: ["injectConversation", "injectRead", "injectReadable"], isCommon: false },
  "assistant-ui": { framework: "@assistant-ui/react", others: ["react"], names: ["useTurnwireRuntime"], isCommon: false, most: 9_900 },
  ai: { framework: "ai", names: ["TurnwireTransport"], isCommon: false, most: 9_800 },
};

/** A bundler's output for a script that imports from this package, without frameworks; and its imports from them. */
async function bundledScript(contents, format = "esm") {
  const stdin = { contents, resolveDir: import.meta.dirname };
  const options = { bundle: true, minify: true, write: false, metafile: true, format, platform: "neutral" };
  const external = [...Object.values(BINDINGS).map(({ framework }) => framework), "node:fs"];
  const { outputFiles, metafile } = await build({ ...options, stdin, external });
  const [{ imports, exports }] = Object.values(metafile.outputs);
  return { text: outputFiles[0].text, exports, imported: [...new Set(imports.map(({ path }) => path))] };
}

for (const [entry, { framework, others = [], names, isCommon, most = 2_000 }] of Object.entries(BINDINGS)) {
  test(`turnwire/${entry} imports ${[framework, ...others].join(" and ")} and nothing else, in ${isCommon ? "both formats" : "modules"}`, async () => {
    const { text, exports, imported } = await bundledScript(`export * from "turnwire/${entry}";`);
    assert.deepEqual(imported.sort(), [framework, ...others].sort());
    assert.ok(text.length < most, `${text.length} bytes`);
    assert.deepEqual(exports.sort(), names);
    if (!isCommon) return assert.equal(existsSync(join(DIST, `${entry}.cjs`)), false);
    const common = await bundledScript(`module.exports = require("turnwire/${entry}");`, "cjs");
    assert.deepEqual(common.imported, [framework]);
  });

  test(`a page that uses nothing of turnwire/${entry} has nothing of it`, async () => {
    assert.equal((await bundledScript(`import * as unused from "turnwire/${entry}";`)).text, "");
  });
}

test("turnwire/react and turnwire/assistant-ui are for the client", async () => {
  for (const file of ["react.js", "react.cjs", "assistant-ui.js"]) assert.match(await readFile(join(DIST, file), "utf8"), /^("use strict";)?"use client";/, file);
});

test("the main entry pulls in no framework, and npm installs none", async () => {
  assert.deepEqual((await bundledScript('export * from "turnwire";')).imported, []);
  const { dependencies, peerDependencies, peerDependenciesMeta } = JSON.parse(await readFile(join(DIST, "..", "package.json"), "utf8"));
  assert.equal(dependencies, undefined);
  const packages = Object.values(BINDINGS).map(({ framework }) => framework.replace("/reactivity", ""));
  assert.deepEqual(Object.keys(peerDependencies).sort(), packages.sort());
  for (const name of packages) assert.deepEqual(peerDependenciesMeta[name], { optional: true }, name);
});
