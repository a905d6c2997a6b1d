// The Node half of `cargo xtask build`, in stages:
//   node build.mjs core    core/core_bg.wasm -> kept as core/raw.wasm, optimised in place, checked;
//                          core/inline.js
//   node build.mjs dist    src/ + core/      -> dist/: bundles, core.wasm, types
//   node build.mjs names   core/raw.wasm     -> core/named.wasm: optimised, with function names
import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const root = import.meta.dirname;
const wasm = join(root, "core", "core_bg.wasm");
const raw = join(root, "core", "raw.wasm");

// What Rust 1.95 switches on by default for wasm32-unknown-unknown, by its names in the module's
// `target_features` section and the wasm-opt flags for them. Every engine of Node 20, Chromium,
// Firefox and Safari 16 has these. wasm-opt adds what the section names to what its flags say, so a
// module that asks for more is stopped here and not by a user's browser; --all-features is never
// passed, since it lets the optimiser emit instructions that engines lack. `bulk-memory-opt` is
// the memory.copy and memory.fill half of `bulk-memory`; `call-indirect-overlong` is the encoding
// half of `reference-types`.
const FEATURES = {
  "bulk-memory": "--enable-bulk-memory",
  "bulk-memory-opt": "--enable-bulk-memory-opt",
  "call-indirect-overlong": "--enable-call-indirect-overlong",
  multivalue: "--enable-multivalue",
  "mutable-globals": "--enable-mutable-globals",
  "nontrapping-fptoint": "--enable-nontrapping-float-to-int",
  "reference-types": "--enable-reference-types",
  "sign-ext": "--enable-sign-ext",
};

// A relative import in a declaration.
const RELATIVE = /(?<=["'])\.\/([^"']+)\.js(?=["'])/g;

async function core() {
  const foreign = targetFeatures(readFileSync(wasm)).filter((name) => !(name in FEATURES));
  if (foreign.length > 0) {
    throw new Error(
      `core_bg.wasm uses ${foreign.join(", ")}, which supported engines may lack. Build without ` +
        "it (rustflags), or add it to FEATURES once every supported engine has it.",
    );
  }
  renameSync(wasm, raw);
  optimise(wasm, "--strip-producers", "--strip-target-features");
  const bytes = readFileSync(wasm);
  await WebAssembly.compile(bytes);
  const packed = gzipSync(bytes, { level: 9 });
  writeFileSync(join(root, "core", "inline.js"), `export default "${packed.toString("base64")}";\n`);
  writeFileSync(
    join(root, "core", "inline.d.ts"),
    "/** base64 of the gzip form of the module. */\ndeclare const inline: string;\nexport default inline;\n",
  );
}

/** Measured: repeated rounds and whole-program passes save less than 0.2 %, for twice the time. */
function optimise(output, ...flags) {
  const optimiser = join(root, "node_modules", "binaryen", "bin", "wasm-opt");
  const features = ["--mvp-features", ...Object.values(FEATURES)];
  node(optimiser, "-Oz", ...flags, ...features, raw, "-o", output);
}

async function names() {
  optimise(join(root, "core", "named.wasm"), "--debuginfo");
}

/** The features that a module says it uses: a count, then for each a prefix byte, length, name. */
function targetFeatures(bytes) {
  const [section] = WebAssembly.Module.customSections(new WebAssembly.Module(bytes), "target_features");
  if (section === undefined) return [];
  const data = Buffer.from(section);
  const names = [];
  for (let at = 1; at < data.length; at += 2 + data[at + 1]) {
    if (data[at] === "+".charCodeAt(0)) names.push(data.toString("utf8", at + 2, at + 2 + data[at + 1]));
  }
  return names;
}

async function dist() {
  // The compiler goes first: while the sources have an error, the last good dist/ stays.
  const out = join(root, "dist");
  const declarations = join(root, "core", "types");
  rmSync(declarations, { recursive: true, force: true });
  types(declarations);
  rmSync(out, { recursive: true, force: true });
  renameSync(declarations, out);
  copyFileSync(wasm, join(out, "core.wasm"));
  await bundle("index", "esm");
  await bundle("index", "cjs");
  await bundle("slim", "esm");
  await bundle("slim", "cjs");
  await bundle("workerd", "esm");
}

async function bundle(entry, format) {
  const file = join("dist", `${entry}.${format === "esm" ? "js" : "cjs"}`);
  await build({
    absWorkingDir: root,
    entryPoints: [join("src", `${entry}.ts`)],
    outfile: file,
    format,
    bundle: true,
    minify: true,
    target: "es2022",
    platform: "neutral",
    sourcemap: true,
    external: ["./core.wasm"],
    logLevel: "warning",
    plugins: [keepClassNames],
  });
  dropInlinedModule(join(root, `${file}.map`));
}

/**
 * Public classes keep their names in consoles and stack traces. esbuild's own `keepNames` names
 * every function as well (measured on a small core: 228 brotli bytes against 35).
 */
const keepClassNames = {
  name: "keep-class-names",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/].+\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, "utf8");
      const classes = source.matchAll(/^export (?:abstract )?class (\w+)/gm);
      const names = [...classes].map(([, name]) => `Object.defineProperty(${name},"name",{value:"${name}"});`);
      return { contents: source + names.join(""), loader: "ts" };
    });
  },
};

/** A source map that holds the sources, but not the module a second time. */
function dropInlinedModule(file) {
  const map = JSON.parse(readFileSync(file, "utf8"));
  const at = map.sources.findIndex((source) => source.endsWith("core/inline.js"));
  if (at >= 0) map.sourcesContent[at] = null;
  writeFileSync(file, JSON.stringify(map));
}

/**
 * Emits the declarations that the entries reach, and a `.d.cts` twin of each: the extension decides
 * whether a declaration speaks of a module or of CommonJS, for all that it imports.
 */
function types(out) {
  node(join(root, "node_modules", "typescript", "bin", "tsc"), "--project", "tsconfig.json", "--outDir", out);
  const glue = readFileSync(join(root, "core", "core.d.ts"), "utf8");
  // A page's compiler may not know Symbol.dispose yet, and nobody is handed a raw core object.
  writeFileSync(join(out, "core.d.ts"), glue.replaceAll(/^\s*\[Symbol\.dispose\]\(\): void;\n/gm, ""));
  const emitted = readdirSync(out).filter((name) => name.endsWith(".d.ts"));
  const reached = new Set();
  for (const entry of ["index.d.ts", "slim.d.ts", "workerd.d.ts"]) reach(out, entry, reached);
  for (const name of emitted) {
    const file = join(out, name);
    if (!reached.has(name)) rmSync(file);
    else writeFileSync(file.replace(/\.d\.ts$/, ".d.cts"), rename(readFileSync(file, "utf8"), ".cjs"));
  }
}

/** Points the relative imports of a declaration to files with another extension. */
function rename(text, extension) {
  return text.replaceAll(RELATIVE, `./$1${extension}`);
}

/** Collects a declaration and what it imports; imports of the glue are pointed to its copy. */
function reach(out, name, reached) {
  if (reached.has(name)) return;
  reached.add(name);
  const file = join(out, name);
  const text = readFileSync(file, "utf8").replaceAll('"../core/core.js"', '"./core.js"');
  writeFileSync(file, text);
  for (const [, imported] of text.matchAll(RELATIVE)) reach(out, `${imported}.d.ts`, reached);
}

/** Runs a Node program with its output shown; its failure is ours. */
function node(...command) {
  const { status, error } = spawnSync(process.execPath, command, { cwd: root, stdio: "inherit" });
  if (error !== undefined) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

const STAGES = { core, dist, names };
const stage = STAGES[process.argv[2]];
if (stage === undefined) {
  console.error(`usage: node build.mjs ${Object.keys(STAGES).join("|")}`);
  process.exit(2);
}
await stage();
