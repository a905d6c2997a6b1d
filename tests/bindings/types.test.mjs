// The bindings' types beside those of the frameworks, from the oldest supported compiler on.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { FRAMEWORKS } from "./frameworks.mjs";

const FOLDER = import.meta.dirname;
const ROOT = join(FOLDER, "..", "..");
/** The compilers by their versions. */
const COMPILERS = { 5.4: "tests/node_modules/typescript-oldest", 5.9: "tests/node_modules/typescript-5-9", 7: "pkg/node_modules/typescript" };
const SHARED = "--ignoreConfig --noEmit --strict --noUncheckedIndexedAccess --exactOptionalPropertyTypes --target es2022 --module nodenext --lib es2022,dom,dom.iterable".split(" ");

/** By framework the files, the guide's component among them, and how its JSX is compiled. */
const PROJECTS = {
  react: "types/react.ts types/react.cts react/guide.tsx react/chat.tsx --jsx react-jsx",
  vue: "types/vue.ts types/vue.cts",
  svelte: "types/svelte.ts",
  solid: "types/solid.ts solid/guide.tsx --jsx preserve --jsxImportSource solid-js",
  angular: "angular/src/types.ts",
  adapters: "types/adapters.ts adapters/assistant.tsx adapters/use-chat.tsx --jsx react-jsx",
};

/** The frameworks whose apps are here. Angular's own types need TypeScript 5.8. */
const languages = [...new Set([...Object.keys(FRAMEWORKS).map((name) => name.split("-")[0]), "adapters"])];

for (const name of languages) {
  for (const [version, place] of Object.entries(COMPILERS)) {
    if (name === "angular" && Number(version) < 5.8) continue;
    test(`${name}'s types with TypeScript ${version}`, () => {
      // The newest compiler checks the declarations themselves, and knows an option that the others do not. Some frameworks' own need newer ones than 5.4.
      const known = Number(version) < 6 ? SHARED.slice(1) : SHARED;
      // The AI SDK's own types need Node's.
      const options = Number(version) < 6 || name === "adapters" ? [...known, "--skipLibCheck"] : known;
      const { stdout, status } = spawnSync(process.execPath, [join(ROOT, place, "bin/tsc"), ...options, "--typeRoots", "types", ...PROJECTS[name].split(" ")], { cwd: FOLDER, encoding: "utf8" });
      assert.equal(stdout, "");
      assert.equal(status, 0);
    });
  }
}

test("the adapters' sources with the types of the packages that they are for", () => {
  const { stdout, status } = spawnSync(process.execPath, [join(ROOT, COMPILERS[7], "bin/tsc"), "--project", "types/adapters.json"], { cwd: FOLDER, encoding: "utf8" });
  assert.equal(stdout, "");
  assert.equal(status, 0);
});
