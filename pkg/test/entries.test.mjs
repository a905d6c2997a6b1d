// The ways into the package in Node: a module, CommonJS, bundles, and the entries that are given their wasm.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import * as esm from "../dist/index.js";
import * as slim from "../dist/slim.js";
import { families } from "../entries.mjs";
import { failure } from "./support/collect.mjs";

const require = createRequire(import.meta.url);
const BASE = { baseUrl: "http://127.0.0.1:9/acme" };
const TIREA = { ...BASE, protocol: "tirea" };
const AAP = { ...BASE, protocol: "aap" };
const DIST = join(import.meta.dirname, "..", "dist");
/** No file with a core in it is smaller, and no other is larger, in bytes. */
const LEAST_CORE = 80_000;
/** The entries with a core inside, and what each speaks. */
const INSIDE = Object.fromEntries(Object.entries(families).map(([family, { protocols }]) => [family, protocols]));
/** What only a socket needs, and only sessions of `aap`. */
const [SOCKETS, TERMS] = ["bufferedAmount", "cannot hold for call"];
/** What only histories of messages need, and only those of tasks. */
const [CONVERSATIONS, TASKS] = ["abandoned", "prompt_manifest"];
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
  "ProtocolError", "Run", "Session", "StateError", "Turn", "TurnFailedError", "TurnwireError", "allow", "connect", "deny", "init",
  "isEventDelta", "mergeEventDelta", "respond",
];

test("every entry exports the same names", async () => {
  for (const entry of ["index", "slim", ...Object.keys(INSIDE)]) {
    assert.deepEqual(Object.keys(await import(`../dist/${entry}.js`)).sort(), PUBLIC, entry);
    assert.deepEqual(Object.keys(require(`../dist/${entry}.cjs`)).sort(), PUBLIC, entry);
  }
  assert.deepEqual(Object.keys(await import("turnwire/aap")).sort(), PUBLIC);
  assert.deepEqual(Object.keys(require("turnwire/aap")).sort(), PUBLIC);
});

test("every entry has the same classes", async () => {
  for (const entry of ["slim", ...Object.keys(INSIDE)]) {
    assert.equal((await import(`../dist/${entry}.js`)).TurnwireError, esm.TurnwireError, entry);
    assert.equal(require(`../dist/${entry}.cjs`).Turn, require("../dist/index.cjs").Turn, entry);
  }
});

for (const [entry, spoken] of Object.entries(INSIDE)) {
  test(`turnwire/${entry} speaks its core's protocols, by default the first one, and no others`, async () => {
    for (const { connect, init, InputError } of [await import(`../dist/${entry}.js`), require(`../dist/${entry}.cjs`)]) {
      await init();
      assert.equal((await connect(BASE)).protocol, spoken[0]);
      for (const protocol of spoken) assert.equal((await connect({ ...BASE, protocol })).protocol, protocol);
      const other = Object.values(INSIDE).flat().find((protocol) => !spoken.includes(protocol));
      const error = await failure(connect({ ...BASE, protocol: other }));
      assert.ok(error instanceof InputError);
      assert.match(error.message, new RegExp(`\`protocol\` must be one of ${spoken.join(", ")}`));
    }
  });
}

test("two entries in one page keep to their own protocols", async () => {
  const [aap, turnRpc] = [await import("../dist/aap.js"), await import("../dist/turn-rpc.js")];
  assert.equal((await aap.connect(BASE)).protocol, "aap");
  assert.equal((await turnRpc.connect(BASE)).protocol, "turn-rpc");
  assert.equal((await esm.connect(BASE)).protocol, "truefoundry");
  assert.equal((await failure(aap.connect({ ...BASE, protocol: "codex" }))).code, "invalid_option");
});

test("turnwire/conversation is built on the same classes, has no core, and is there in both formats", async () => {
  const names = ["Conversation", "Conversations", "fileParts", "load"];
  for (const [entry, { StateError }] of [[await import("../dist/conversation.js"), esm], [require("../dist/conversation.cjs"), require("../dist/index.cjs")]]) {
    assert.deepEqual(Object.keys(entry).sort(), names);
    for (const name of names.slice(0, 2)) assert.equal(entry[name].name, name);
    const chats = new entry.Conversations({ client: new Promise(() => {}), agentName: "support", store: null });
    assert.throws(() => chats.create().answer("none", { kind: "allow" }), StateError);
    chats.close();
  }
  const { outputFiles } = await build({ entryPoints: [join(DIST, "conversation.js")], bundle: true, minify: true, format: "esm", write: false });
  assert.ok(outputFiles[0].text.length < LEAST_CORE + statSync(join(DIST, "face.js")).size);
  const { outputFiles: unused } = await build({ stdin: { contents: 'import * as unused from "turnwire/conversation";', resolveDir: DIST }, bundle: true, minify: true, format: "esm", write: false });
  assert.equal(unused[0].text, "");
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

test("the slim entry has all protocols, names the file that is missing, and waits for one that is still loading", async () => {
  const { connect, init } = await import("../dist/slim.js?other");
  const missing = await failure(connect(TIREA));
  assert.equal(missing.code, "wasm_missing");
  assert.match(missing.message, /turnwire\/core\.wasm/);
  const started = init(wasm("core.wasm"));
  assert.equal((await connect(TIREA)).protocol, "tirea");
  await started;
  for (const protocol of Object.values(families).flatMap(({ protocols }) => protocols)) {
    assert.equal((await connect({ ...BASE, protocol })).protocol, protocol);
  }
});

test("the entry for Workers has its module built in", async (context) => {
  const folder = copied(context);
  // The platform's form of an imported module.
  const source = await readFile(join(folder, "workerd.js"), "utf8");
  const bytes = JSON.stringify((await wasm("core.wasm")).toString("base64"));
  writeFileSync(join(folder, "core.mjs"), `export default new WebAssembly.Module(Buffer.from(${bytes}, "base64"));\n`);
  writeFileSync(join(folder, "workerd.js"), source.replaceAll("./core.wasm", "./core.mjs"));
  const { connect } = await import(pathToFileURL(join(folder, "workerd.js")));
  assert.equal((await connect(BASE)).capabilities.resume, "cursor");
  assert.equal((await connect(TIREA)).capabilities.resume, "none");
  assert.equal((await connect(AAP)).capabilities.agents, true);
});

for (const [kind, { connect }] of [["a module", esm], ["CommonJS", require("../dist/index.cjs")]]) {
  test(`as ${kind}, each protocol has a core with its capabilities`, async () => {
    const resume = async (protocol) => (await connect({ ...BASE, protocol })).capabilities.resume;
    const all = await Promise.all(["truefoundry", "trueforge", "tirea", "awaken", "aap", "tirea", "turn-rpc", "codex"].map(resume));
    assert.deepEqual(all, ["cursor", "cursor", "none", "history", "history", "none", "cursor", "cursor"]);
    assert.equal((await connect(BASE)).protocol, "truefoundry");
    assert.equal((await failure(connect({ ...BASE, protocol: "smtp" }))).code, "invalid_option");
  });
}

test("capabilities are the ones that a page may ask for, and no more", async () => {
  const { capabilities } = await esm.connect(BASE);
  const names = "agentCapabilities agents cancel cancelSession delete detached discardPending documents drafts files fork history images interrupt listSessions liveAnswers messages newestFirst pageTools pages rename resume sandboxFiles search sessionInfo state steer titles toolRecords turnIds";
  assert.equal(Object.keys(capabilities).sort().join(" "), names);
});

for (const extension of ["js", "cjs"]) {
  for (const [family, [protocol], [other]] of [
    ["truefoundry", INSIDE.truefoundry, INSIDE["agent-event"]],
    ["agent-event", INSIDE["agent-event"], INSIDE.truefoundry],
  ]) {
    test(`index.${extension}: a file of ${family} that does not load is named, and requested once more`, async (context) => {
      const folder = copied(context);
      const [file, hidden] = [join(folder, `${family}-core.${extension}`), join(folder, "hidden")];
      renameSync(file, hidden);
      const entry = join(folder, `index.${extension}`);
      const { connect } = extension === "cjs" ? require(entry) : await import(pathToFileURL(entry));
      const error = await failure(connect({ ...BASE, protocol }));
      assert.equal(error.code, "wasm_failed");
      assert.match(error.message, new RegExp(`could not be loaded.*${family}`, "s"));
      assert.equal((await connect({ ...BASE, protocol: other })).protocol, other);
      renameSync(hidden, file);
      assert.equal((await connect({ ...BASE, protocol })).protocol, protocol);
    });
  }
}

/** A bundler's output for a page that imports `entry`: the texts of its files by their names, and the page itself. */
async function bundled(context, entry, splitting) {
  const folder = copied(context);
  const outdir = join(folder, "bundled");
  const page = join(folder, "page.mjs");
  writeFileSync(page, `export { connect } from "./${entry}.js";\n`);
  const { outputFiles } = await build({ entryPoints: [page], bundle: true, minify: true, format: "esm", splitting, outdir, write: false });
  mkdirSync(outdir);
  for (const { path, contents } of outputFiles) writeFileSync(path, contents);
  const files = Object.fromEntries(outputFiles.map(({ path, text }) => [basename(path), text]));
  return { files, ...(await import(pathToFileURL(join(outdir, "page.js")))) };
}

for (const splitting of [true, false]) {
  test(`a bundler ${splitting ? "that splits" : "that does not split"} keeps all cores`, async (context) => {
    const { files, connect } = await bundled(context, "index", splitting);
    const large = Object.keys(files).filter((name) => files[name].length > LEAST_CORE);
    assert.equal(large.length, splitting ? Object.keys(INSIDE).length : 1);
    assert.equal(large.includes("page.js"), !splitting);
    for (const protocol of Object.values(INSIDE).flat()) assert.equal((await connect({ ...BASE, protocol })).protocol, protocol);
  });
}

test("what only sockets need, and only sessions of `aap`, is with their cores", async (context) => {
  const { files } = await bundled(context, "index", true);
  const having = (text) => Object.keys(files).filter((name) => files[name].includes(text));
  for (const [family, text] of [["turn-rpc", SOCKETS], ["aap", TERMS]]) {
    assert.equal(having(text).length, 1);
    assert.match(having(text)[0], new RegExp(`^${family}-core`));
  }
});

test("what only some histories need is not in the file that every page loads", async (context) => {
  const { files } = await bundled(context, "index", true);
  for (const text of [CONVERSATIONS, TASKS]) {
    assert.equal(files["page.js"].includes(text), false, text);
    const loaded = Object.keys(files).filter((name) => files[name].length < LEAST_CORE && files[name].includes(text));
    assert.ok(loaded.length <= 1, `${text} is in ${loaded}`);
  }
  const { files: alone } = await bundled(context, "truefoundry", true);
  for (const text of [CONVERSATIONS, TASKS]) assert.equal(Object.values(alone).some((file) => file.includes(text)), false, text);
});

for (const [entry, [protocol]] of Object.entries(INSIDE)) {
  test(`a page that imports turnwire/${entry} is one file, with one core`, async (context) => {
    const { files, connect } = await bundled(context, entry, true);
    assert.deepEqual(Object.keys(files), ["page.js"]);
    const [text] = Object.values(files);
    assert.ok(text.length > LEAST_CORE);
    assert.ok(text.length < statSync(join(DIST, "face.js")).size + 1.1 * statSync(join(DIST, `${entry}-core.js`)).size + 25_000, `${text.length} bytes`);
    assert.equal(text.includes(SOCKETS), entry === "turn-rpc");
    assert.equal(text.includes(TERMS), entry === "aap");
    assert.equal((await connect(BASE)).protocol, protocol);
  });
}

test("several connects share one start, and make clients of their own", async () => {
  const [first, second] = await Promise.all([esm.connect(BASE), esm.connect(BASE), esm.init()]);
  assert.notEqual(first, second);
});
