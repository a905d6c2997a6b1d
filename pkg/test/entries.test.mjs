// The ways into the package in Node: a module, CommonJS, bundles, and the entries that are given their wasm.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import * as esm from "../dist/index.js";
import * as slim from "../dist/slim.js";
import { failure } from "./support/collect.mjs";

const require = createRequire(import.meta.url);
const BASE = { baseUrl: "http://127.0.0.1:9/acme" };
const TIREA = { ...BASE, protocol: "tirea" };
const AAP = { ...BASE, protocol: "aap" };
const DIST = join(import.meta.dirname, "..", "dist");
/** No file with a core in it is smaller, and no other is larger, in bytes. */
const LEAST_CORE = 50_000;
const wasm = (name) => readFile(join(DIST, name));

/** A copy of the package's files, to be changed. */
function copied(context) {
  const folder = mkdtempSync(join(tmpdir(), "turnwire-entries-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(DIST, folder, { recursive: true });
  // What `type` says in the package.
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  return folder;
}

const PUBLIC = [
  "AbortError", "Agents", "ApiError", "Client", "ConnectionError", "IncompleteError", "InputError", "ModelMessageBuilder",
  "ProtocolError", "Run", "Session", "StateError", "Turn", "TurnwireError", "connect", "init", "isEventDelta", "mergeEventDelta",
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
  const foreign = new WebAssembly.Module(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]));
  assert.equal((await failure(slim.init(foreign))).code, "wasm_failed");
  await slim.init(wasm("core.wasm"));
  assert.equal((await slim.connect(BASE)).baseUrl, BASE.baseUrl);
  await slim.init(wasm("core.wasm"));
});

test("the slim entry takes the modules of several families, and names the file that is missing", async () => {
  const { connect, init } = await import("../dist/slim.js?several");
  const missing = await failure(connect(TIREA));
  assert.equal(missing.code, "wasm_missing");
  assert.match(missing.message, /turnwire\/agent-event\.wasm/);
  await init(wasm("agent-event.wasm"));
  assert.equal((await connect(TIREA)).protocol, "tirea");
  assert.match((await failure(connect(BASE))).message, /turnwire\/core\.wasm/);
  // Who connects while a module is on its way waits for it.
  const started = init(wasm("core.wasm"));
  assert.equal((await connect({ ...BASE, protocol: "trueforge" })).protocol, "trueforge");
  await started;
});

test("the entry for Workers has all modules at hand", async (context) => {
  const folder = copied(context);
  // What the platform makes of an imported module.
  const source = await readFile(join(folder, "workerd.js"), "utf8");
  for (const name of ["core", "agent-event", "aap", "turn-rpc"]) {
    const bytes = JSON.stringify((await wasm(`${name}.wasm`)).toString("base64"));
    writeFileSync(join(folder, `${name}.mjs`), `export default new WebAssembly.Module(Buffer.from(${bytes}, "base64"));\n`);
  }
  writeFileSync(join(folder, "workerd.js"), source.replaceAll(/\.\/(core|agent-event|aap|turn-rpc)\.wasm/g, "./$1.mjs"));
  const { connect } = await import(pathToFileURL(join(folder, "workerd.js")));
  assert.equal((await connect(BASE)).capabilities.resume, "cursor");
  assert.equal((await connect(TIREA)).capabilities.resume, "none");
  assert.equal((await connect(AAP)).capabilities.agents, true);
});

for (const [kind, { connect }] of [["a module", esm], ["CommonJS", require("../dist/index.cjs")]]) {
  test(`as ${kind}, each protocol has a core that can what it can`, async () => {
    const resume = async (protocol) => (await connect({ ...BASE, protocol })).capabilities.resume;
    const all = await Promise.all(["truefoundry", "trueforge", "tirea", "awaken", "aap", "tirea", "turn-rpc", "codex"].map(resume));
    assert.deepEqual(all, ["cursor", "cursor", "none", "history", "history", "none", "cursor", "cursor"]);
    assert.equal((await connect(BASE)).protocol, "truefoundry");
    assert.equal((await failure(connect({ ...BASE, protocol: "smtp" }))).code, "invalid_option");
  });
}

test("capabilities are what a page may ask for, and no more", async () => {
  const { capabilities } = await esm.connect(BASE);
  const names = "agents cancel delete discardPending drafts files history images interrupt liveAnswers rename resume sandboxFiles search state steer titles";
  assert.equal(Object.keys(capabilities).sort().join(" "), names);
});

for (const [entry, chunk] of [["index.js", "agent-event.js"], ["index.cjs", "agent-event.cjs"]]) {
  test(`${entry}: a file that does not come is named, and asked for once more`, async (context) => {
    const folder = copied(context);
    const [file, hidden] = [join(folder, chunk), join(folder, "hidden")];
    renameSync(file, hidden);
    const { connect } = entry.endsWith("cjs") ? require(join(folder, entry)) : await import(pathToFileURL(join(folder, entry)));
    const error = await failure(connect(TIREA));
    assert.equal(error.code, "wasm_failed");
    assert.match(error.message, /could not be loaded.*agent-event/s);
    assert.equal((await connect(BASE)).protocol, "truefoundry");
    renameSync(hidden, file);
    assert.equal((await connect(TIREA)).protocol, "tirea");
  });
}

for (const splitting of [true, false]) {
  test(`a bundler ${splitting ? "that splits" : "that does not split"} keeps all cores`, async (context) => {
    const folder = copied(context);
    const outdir = join(folder, "bundled");
    const entry = join(folder, "app.mjs");
    writeFileSync(entry, 'export { connect } from "./index.js";\n');
    const { metafile } = await build({ entryPoints: [entry], bundle: true, format: "esm", splitting, outdir, metafile: true });
    const sizes = Object.values(metafile.outputs).map(({ bytes }) => bytes);
    assert.equal(sizes.filter((size) => size > LEAST_CORE).length, splitting ? 4 : 1);
    const { connect } = await import(pathToFileURL(join(outdir, "app.js")));
    assert.equal((await connect(TIREA)).protocol, "tirea");
    assert.equal((await connect(AAP)).protocol, "aap");
    assert.equal((await connect(BASE)).protocol, "truefoundry");
  });
}

test("several connects share one start, and make clients of their own", async () => {
  const [first, second] = await Promise.all([esm.connect(BASE), esm.connect(BASE), esm.init()]);
  assert.notEqual(first, second);
});
