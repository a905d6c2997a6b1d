// The Node half of `cargo xtask build`, in stages:
//   node build.mjs unpacker       core/unpacker.wasm -> optimised, as text in core/unpacker.js
//   node build.mjs core FAMILY    core/FAMILY/core_bg.wasm -> kept as raw.wasm, optimised in place, checked;
//                                 script.js for `turnwire/nowasm`
//   node build.mjs sources        families.json      -> the sources that follow from it, in src/
//   node build.mjs documents      the repository's documents -> those of the package
//   node build.mjs dist           src/ + core/      -> dist/: bundles, modules, types
//   node build.mjs names FAMILY   core/FAMILY/raw.wasm     -> named.wasm: optimised, with function names
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import binaryen from "binaryen";
import { build } from "esbuild";
import { minify } from "terser";
import { copyDocuments } from "./documents.mjs";
import { families, writeSources } from "./entries.mjs";
import { byLine, withSources } from "./maps.mjs";
import { LOWERED, scriptOf } from "./script.mjs";

const root = import.meta.dirname;

// The families of protocols: each has a core, which is a folder in core/ and a text in dist/.
const FAMILIES = Object.keys(families);
// The core of all families, which is a module in dist/: for platforms that compile modules ahead of time, for Node's CommonJS, and for
// pages that fetch it themselves. A module for each family would be twice as much in the package.
const WHOLE = "all";
// The files of all extras.
const EXTRAS = new Set(Object.values(families).flatMap(({ extras = {} }) => Object.values(extras).map((place) => place.split(" ")[0])));
// What pages load in files of their own, each after what it is built on: the face, what comes with some cores, the cores.
const PARTS = {
  face: "client/face.ts",
  ...Object.fromEntries([...EXTRAS].map((file) => [file.replace("protocols/", "").replaceAll("/", "-"), `${file}.ts`])),
  ...Object.fromEntries(FAMILIES.map((family) => [`${family}-core`, `entries/families/${family}-core.ts`])),
};
// The exports that only some cores have, for the code that comes with them.
const OWN = /^(?:socket|conversation)[A-Z]/;
// What users import. The first is for each protocol, one core each is inside the others.
const ENTRIES = {
  index: "entries/index.ts",
  slim: "entries/slim.ts",
  conversation: "entries/conversation.ts",
  ...Object.fromEntries(FAMILIES.map((family) => [family, `entries/families/${family}.ts`])),
};

// What Rust 1.95 switches on by default for wasm32-unknown-unknown: its name in the module's
// `target_features` section, wasm-opt's flag for it, and its name in binaryen's JavaScript API. Every
// engine of Node 20, Chromium, Firefox and Safari 16 has these. wasm-opt adds what the section names to
// what its flags say, so a module that asks for more is stopped here and not by a user's browser; all
// features at once are never allowed, since binaryen would then write what engines lack.
// `bulk-memory-opt` is the memory.copy and memory.fill half of `bulk-memory`;
// `call-indirect-overlong` is the encoding half of `reference-types`.
const FEATURES = [
  { name: "bulk-memory", flag: "--enable-bulk-memory", api: "BulkMemory" },
  { name: "bulk-memory-opt", flag: "--enable-bulk-memory-opt", api: "BulkMemoryOpt" },
  { name: "call-indirect-overlong", flag: "--enable-call-indirect-overlong", api: "CallIndirectOverlong" },
  { name: "multivalue", flag: "--enable-multivalue", api: "Multivalue" },
  { name: "mutable-globals", flag: "--enable-mutable-globals", api: "MutableGlobals" },
  { name: "nontrapping-fptoint", flag: "--enable-nontrapping-float-to-int", api: "NontrappingFPToInt" },
  { name: "reference-types", flag: "--enable-reference-types", api: "ReferenceTypes" },
  { name: "sign-ext", flag: "--enable-sign-ext", api: "SignExt" },
];

// Functions that `prune` turns into traps, by their demangled names without hashes. A panic of the core
// has always been a trap that JavaScript sees as a RuntimeError; these functions only make up its
// message, which nobody would be shown.
const TRAPS = [
  // What raises a panic, of the core library, of collections and of the allocator; what carries it.
  /^(?:core|std)::panicking::|^std::thread::local::panic_|PanicPayload>::/,
  /^(?:core::(?:cell|option|result|slice|str)|<alloc::vec::).*(?:::panic_|_fail(?:ed|_rt)?$)/,
  /^alloc::.*::(?:handle_alloc_error|handle_error|capacity_overflow)$/,
  // What prints it.
  /^core::fmt::|^<core::fmt::| as core::fmt::\w+>::/,
  // Closures that wasm-bindgen's own crates could hand to JavaScript, if anything here were asynchronous.
  /^wasm_bindgen::convert::closures::/,
  /^js_sys::futures::/,
];

// Texts of the module that only those functions would read: where in which file it could panic, and of what.
const UNREAD = [
  /(?:\/rustc\/[0-9a-f]{40}\/library\/|js-sys-[\d.]+\/)?(?:(?:alloc|core|std)\/)?src\/[\w/]+\.rs/g,
  /slice index starts at | but ends at |range (?:start|end) index | out of range for slice of length /g,
  /removal index \(is |\) should be < len \(is |mid > len|capacity overflow|attempt to divide by zero/g,
  /RefCell already (?:mutably )?borrowed|cannot access a Thread Local Storage value [\w ]+: |AccessError/g,
  /closure invoked recursively or after being dropped|Tried to shrink to a larger capacity/g,
  // The decimal digits of all pairs, for core::fmt.
  /0001020304050607080910\d{178}/g,
];

// Members that only the package's own sources name. They are shortened, as the core's exports are; a member
// that users, JSON or the platform name must never be among them.
const INTERNAL =
  "actAndWait actBack activity adopt alive answerOf applyListed arrange ascii attached began begin " +
  "begun callKey callKeys callsOf canQueue cancelByDisconnect carry changeRecords changed " +
  "chosen chunkRead clientIds completed configure connected conventions core coreExports " +
  "coreFailure coreNumber cut cutting demandTools discard download drain effects elision enter " +
  "extras facts factsOf filled firstInput flush follows forwardResults frames free gather " +
  "gathered gathering hasAny hasEvents hasOthers hasPages hasSession heard hydrate isBefore " +
  "isBusy isCancelled isChanged isForgotten isFork isFree isHandedOut isHeard isHeld isHolding " +
  "isIdle isLeading isLeft isLoaded isNeeded isNews isOpen isOver isOwn isPaused isRead " +
  "isRemoved isShown isStopping isTaken isUncertain isWaiting isWatched isWhole joint keyOf " +
  "lastAsked lastKey lastMessage lastRank later learn leavesUnseen liveTurn " +
  "loadBranch markCancelled mirror nameOf natives newest notify opened pendingOf " +
  "places planned prepare putTools questionOf rank readOn readers reading readsEarlier recall " +
  "received records refreshCalls release reread resolveActions rounds saved separateAnswers " +
  "serverTools setPause setTerms setWantsEvents setWantsNative settings settled shorten " +
  "siblings socket spare stands startSettled startedId steeredRows stored takeAnswered " +
  "takeAnswers takeChanges takeGathered takeInput takeNews takeRecord takeText takenLength " +
  "takesEvents tell templateOf told took toolNames toolSpecs transfer transport unnamed unread " +
  "unsent wantsEarlier wantsNewest wasLost wasRead whenPaused who wide word words";

// Modules whose classes and interfaces users are handed.
const PUBLIC = [
  "client/client",
  "client/history",
  "client/session",
  "common/errors",
  "common/readable",
  "conversation/conversation",
  "conversation/conversations",
  "conversation/dehydrated",
  "conversation/files",
  "common/store",
  "conversation/types",
  "snapshot/merge",
  "snapshot/snapshot",
  "tools/run",
  "tools/tools",
  "transport/lists",
  "turn/settled",
  "turn/turn",
  "wire/capabilities",
  "wire/events",
];

// What is bundled for Workers only.
const WORKERD = "entries/workerd.ts";

// What is bundled with a core that is no WebAssembly, and the family of that: the cores of all would not fit the package.
const NOWASM = "entries/nowasm.ts";
const SCRIPTED = "truefoundry";

// What is bundled for tests only. It stays readable: no page loads it.
const TESTING = "entries/testing.ts";

// The bindings of frameworks, and the adapters for other packages, each with the formats that its framework or package has. They
// import that and nothing else.
const BINDINGS = {
  react: ["esm", "cjs"],
  vue: ["esm", "cjs"],
  solid: ["esm", "cjs"],
  svelte: ["esm"],
  angular: ["esm"],
  "assistant-ui": ["esm"],
  ai: ["esm"],
};
const binding = (name) => `bindings/${name}.ts`;

// What a compiler adds to the names of functions.
const HASH = /\[[0-9a-f]{16}\]|::h[0-9a-f]{16}/g;

// A relative import in a declaration.
const RELATIVE = /(?<=["'])(\.{1,2}\/[^"']+)\.js(?=["'])/g;

async function core(family) {
  const [wasm, raw] = [inCore(family, "core_bg.wasm"), inCore(family, "raw.wasm")];
  const foreign = targetFeatures(readFileSync(wasm)).filter(
    (used) => !FEATURES.some(({ name }) => name === used),
  );
  if (foreign.length > 0) {
    throw new Error(
      `core_bg.wasm uses ${foreign.join(", ")}, which supported engines may lack. Build without ` +
        "it (rustflags), or add it to FEATURES once every supported engine has it.",
    );
  }
  writeFileSync(raw, prune(readFileSync(wasm), family));
  optimise(raw, wasm, "--strip-producers", "--strip-target-features");
  const imports = WebAssembly.Module.imports(await WebAssembly.compile(readFileSync(wasm)));
  if (imports.length > 0) {
    throw new Error(`the core must need nothing of JavaScript, but imports ${imports.map(({ name }) => name)}`);
  }
  if (family === SCRIPTED) writeScript(raw);
}

/**
 * Writes the module that unpacks the cores. It is too small for a better form than two digits a byte: brotli makes 1.6 KB of
 * them, and 1.5 of the best form that was tried.
 */
function unpacker() {
  const [wasm, small] = ["unpacker.wasm", "unpacker-small.wasm"].map((file) => join(root, "core", file));
  const module = binaryen.readBinary(readFileSync(wasm));
  for (const unused of ["__data_end", "__heap_base"]) module.removeExport(unused);
  writeFileSync(small, module.emitBinary());
  module.dispose();
  optimise(small, small, "--strip-producers", "--strip-target-features");
  writeFileSync(join(root, "core", "unpacker.js"), `export const unpacker = "${readFileSync(small).toString("hex")}";\n`);
  writeFileSync(
    join(root, "core", "unpacker.d.ts"),
    "/** The module that makes a core's module of its text, as hexadecimal digits. */\nexport declare const unpacker: string;\n",
  );
}

/** Writes the core that is no WebAssembly. */
function writeScript(raw) {
  const lowered = inCore(SCRIPTED, "lowered.wasm");
  // A script is smaller with nested expressions (measured: 630 brotli bytes).
  optimiseBy(["-Oz"], raw, lowered, ...LOWERED);
  writeFileSync(inCore(SCRIPTED, "script.js"), scriptOf(lowered, root));
  writeFileSync(
    inCore(SCRIPTED, "script.d.ts"),
    'import type { InitOutput } from "./core.js";\n/** Starts a core. */\nexport declare const start: () => InitOutput;\n',
  );
}

/** A file of a core. */
function inCore(family, file) {
  return join(root, "core", family, file);
}

/**
 * Gives the module with every function that `TRAPS` matches turned into a trap. wasm-opt then drops
 * what only they used: texts, formatting code, entries of the function table.
 */
function prune(bytes, family) {
  binaryen.setDebugInfo(true);
  const module = binaryen.readBinary(bytes);
  // No more than these: binaryen writes a module in the newest encoding that it is allowed.
  module.setFeatures(FEATURES.reduce((all, { api }) => all | binaryen.Features[api], 0));
  const functions = listed(module.getNumFunctions(), (at) => binaryen.getFunctionInfo(module.getFunctionByIndex(at)));
  const defined = functions.filter((info) => info.module === "");
  for (const pattern of TRAPS) {
    const matching = defined.filter(({ name }) => pattern.test(name.replaceAll(HASH, "")));
    if (matching.length === 0) {
      throw new Error(`no function of the core is called ${pattern} any more: correct TRAPS in build.mjs`);
    }
    for (const { name, params, results } of matching) {
      module.removeFunction(name);
      module.addFunction(name, params, results, [], module.unreachable());
    }
  }
  // wasm-bindgen's own exports are for JavaScript values in the core; there are none.
  const names = shortNames(family);
  const exported = listed(module.getNumExports(), (at) => binaryen.getExportInfo(module.getExportByIndex(at)));
  for (const { name, value } of exported) {
    if (name === "memory") continue;
    module.removeExport(name);
    if (name in names) module.addFunctionExport(value, names[name]);
  }
  // By this `turnwire/slim` knows what it was given.
  if (family === WHOLE) module.addMemoryExport("0", "turnwire");
  return blanked(Buffer.from(module.emitBinary()));
}

/** So many things that are got by their place. */
function listed(length, get) {
  return Array.from({ length }, (_, at) => get(at));
}

/**
 * A core's exports by their names in Rust, and their names in the package, which are short, and the same in all cores:
 * `boundary.ts` can call each.
 */
function shortNames(family) {
  const all = exportsOf(WHOLE);
  const ordered = [...all.filter((name) => !OWN.test(name)), ...all.filter((name) => OWN.test(name))];
  const names = Object.fromEntries(ordered.map((name, at) => [name, (at + 10).toString(36)]));
  const own = exportsOf(family);
  const lacking = all.find((name) => !OWN.test(name) && !own.includes(name));
  if (lacking) throw new Error(`the core of ${family} does not export ${lacking}`);
  return Object.fromEntries(own.map((name) => [name, names[name]]));
}

function exportsOf(family) {
  const declarations = readFileSync(inCore(family, "core_bg.wasm.d.ts"), "utf8");
  return [...declarations.matchAll(/^export const ([a-z]\w*): \(/gm)].map(([, name]) => name);
}

/** The module with the texts of `UNREAD` blanked, as long as they were. */
function blanked(module) {
  let text = module.toString("latin1");
  for (const pattern of UNREAD) {
    if (text.search(pattern) < 0) {
      throw new Error(`no text of the core is like ${pattern} any more: correct UNREAD in build.mjs`);
    }
    text = text.replace(pattern, (unread) => "\0".repeat(unread.length));
  }
  return Buffer.from(text, "latin1");
}

/**
 * Optimises for size until nothing changes any more. `-Os` and one pass less leave the module a hundredth larger, and its
 * text smaller (measured: 150 to 290 brotli bytes): it reads locals where `-Oz` nests expressions. Large functions stay apart even if they are called
 * from one place only: the module grows by a hundredth, and shrinks by as much compressed, since like code
 * then looks alike. Zeros stay in the data: compressed they are smaller than the segments that would leave them
 * out (measured: 60 to 300 brotli bytes). The lowest kilobyte of memory is the far end of the stack, where no
 * object lies, so that offsets may be folded into addresses.
 */
function optimise(input, output, ...flags) {
  optimiseBy(["-Os", "--skip-pass=simplify-locals"], input, output, ...flags);
}

/** Optimises so, and as all modules are. */
function optimiseBy(level, input, output, ...flags) {
  const optimiser = join(root, "node_modules", "binaryen", "bin", "wasm-opt");
  const features = ["--mvp-features", ...FEATURES.map(({ flag }) => flag)];
  const skipped = ["--skip-pass=local-cse", "--skip-pass=memory-packing"];
  const size = [...level, "--converge", "--one-caller-inline-max-function-size=15", ...skipped, "--low-memory-unused"];
  node(optimiser, ...size, ...flags, ...features, input, "-o", output);
}

async function names(family) {
  optimise(inCore(family, "raw.wasm"), inCore(family, "named.wasm"), "--debuginfo");
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
  mkdirSync(out);
  renameSync(declarations, join(out, "types"));
  copyFileSync(inCore(WHOLE, "core_bg.wasm"), join(out, "core.wasm"));
  for (const format of ["esm", "cjs"]) {
    await bundleTesting(format);
    await bundleBindings(format);
    // The parts of a page name members alike.
    const names = shortNames(WHOLE);
    for (const [name, source] of Object.entries({ ...PARTS, ...ENTRIES })) Object.assign(names, await bundle(name, source, format, names));
    if (format === "cjs") continue;
    await bundle("workerd", WORKERD, format, names);
    await bundle("nowasm", NOWASM, format, names);
  }
}

/**
 * How terser minifies what esbuild leaves: measured, 420 brotli bytes; another 130 where functions that are called once stay
 * apart, and 50 where all functions stand together.
 */
const SMALLEST = { ecma: 2020, compress: { passes: 3, reduce_funcs: false, hoist_funs: true } };

/** Writes the fake server. Its JSON has names that the other files shorten. */
async function bundleTesting(format) {
  const outfile = join("dist", `testing.${format === "cjs" ? "cjs" : "js"}`);
  await build({ absWorkingDir: root, entryPoints: [join("src", TESTING)], outfile, format, minify: true, bundle: true, target: "es2022", platform: "neutral", logLevel: "warning" });
}

/** Writes the bindings. esbuild keeps the directive of React's in the first line. */
async function bundleBindings(format) {
  const names = Object.keys(BINDINGS).filter((name) => BINDINGS[name].includes(format));
  const outExtension = { ".js": format === "cjs" ? ".cjs" : ".js" };
  const entryPoints = names.map((name) => join("src", binding(name)));
  await build({ absWorkingDir: root, entryPoints, outdir: "dist", outExtension, format, bundle: true, packages: "external", minify: true, target: "es2022", platform: "neutral", logLevel: "warning" });
  if (format === "cjs") return;
  for (const name of names) {
    const file = join(root, "dist", `${name}.js`);
    // Without `directives: false` React's is left out: it stands for nothing in a module.
    const { code } = await minify(readFileSync(file, "utf8"), { ...SMALLEST, module: true, compress: { ...SMALLEST.compress, directives: false } });
    writeFileSync(file, code);
  }
}

/** The exports of each file of `dist/`, by its name. */
const exported = {};

/** Writes one file of `dist/`. `names` has the short names of members; returns them with those that are new. */
async function bundle(name, source, format, names) {
  const isCommon = format === "cjs";
  // The face has what users call and step into.
  const isMapped = !isCommon && name === "face";
  const extension = isCommon ? "cjs" : "js";
  const file = join("dist", `${name}.${extension}`);
  const { outputFiles, mangleCache, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [join("src", source)],
    outfile: file,
    write: false,
    format,
    bundle: true,
    minify: true,
    mangleProps: new RegExp(`^(${[...INTERNAL.split(" "), ...exportsOf(WHOLE)].join("|")})$`),
    mangleCache: names,
    target: "es2022",
    platform: "neutral",
    sourcemap: isMapped ? "external" : false,
    metafile: true,
    external: ["node:fs", "./core.wasm"],
    // CommonJS requires its parts: import() is not everywhere where it runs, such as in Jest.
    supported: { "dynamic-import": !isCommon },
    logLevel: "warning",
    plugins: [...(isCommon ? [readModules] : []), keepClassNames, leaveParts(extension)],
  });
  const script = outputFiles.at(-1).text;
  const { code, map } = await minify(script, {
    ...SMALLEST,
    module: !isCommon,
    ...(isMapped && { sourceMap: { content: withSources(outputFiles[0].text), url: `${basename(file)}.map` } }),
  });
  exported[name] ??= Object.values(metafile.outputs).flatMap((output) => output.exports);
  // Node finds the names of CommonJS exports in the text. Minifiers would drop this.
  writeFileSync(join(root, file), isCommon ? `${code}\n0&&(module.exports={${exported[name]}});\n` : code);
  if (map) writeFileSync(join(root, `${file}.map`), byLine(map));
  return mangleCache;
}

/** CommonJS is for Node, and reads the module from its file: the texts would be in the package twice. */
const readModules = {
  name: "read-modules",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]core[\\/][\w-]+[\\/]inline\.js$/ }, () => ({
      contents: 'import { readFileSync } from "node:fs"; export const packed = readFileSync(__dirname + "/core.wasm");',
    }));
    onLoad({ filter: /[\\/]boundary[\\/]unpack\.ts$/ }, () => ({ contents: "export const unpack = (bytes) => bytes;" }));
  },
};

/**
 * Public classes keep their names in consoles and stack traces. esbuild's own `keepNames` names
 * every function as well (measured on a small core: 228 brotli bytes against 35).
 */
const keepClassNames = {
  name: "keep-class-names",
  setup({ onLoad }) {
    const api = ["api", "conversation"].map((name) => readFileSync(join(root, "src", "entries", `${name}.ts`), "utf8")).join("");
    const isPublic = (name) => new RegExp(`\\b${name}\\b`).test(api);
    onLoad({ filter: /[\\/]src[\\/].+\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, "utf8");
      const named = source.replace(/^export (?:abstract )?class (\w+)[^{]*\{/gm, (head, name) =>
        isPublic(name) ? `${head}static name="${name}";` : head,
      );
      return { contents: named, loader: "ts" };
    });
  },
};

/** Leaves parts to be loaded from files of their own. */
function leaveParts(extension) {
  const sources = join(root, "src");
  const parts = new Map(Object.entries(PARTS).map(([name, source]) => [join(sources, source), name]));
  const extras = [...EXTRAS].map((file) => join(sources, `${file}.ts`));
  return {
    name: "leave-parts",
    setup({ onResolve }) {
      onResolve({ filter: /^\..*\.js$/ }, ({ path, importer, resolveDir }) => {
        const source = join(resolveDir, path.replace(/js$/, "ts"));
        // An extra has a copy of another one: bundlers would make a file of what two cores share, for one more request.
        const isCopied = extras.includes(source) && importer.startsWith(join(sources, "protocols", sep));
        const part = isCopied ? undefined : parts.get(source);
        return part && { path: `./${part}.${extension}`, external: true };
      });
    },
  };
}

/**
 * Emits the declarations that the entries reach, once, as `.d.cts`: modules may import the declarations of CommonJS, and
 * not the other way round. An entry's `.d.ts` only exports them again.
 */
function types(out) {
  node(join(root, "node_modules", "typescript", "bin", "tsc"), "--project", "tsconfig.json", "--outDir", out);
  // A user gets no raw object of the core, and a compiler may not know WebAssembly.
  writeFileSync(join(out, "core.d.ts"), "export interface InitOutput { readonly memory: { readonly buffer: ArrayBuffer } }\n");
  const reached = new Set();
  const sources = [...Object.values(ENTRIES), WORKERD, NOWASM, TESTING, ...Object.keys(BINDINGS).map(binding)];
  const entries = sources.map((entry) => join(out, declaration(entry)));
  // CommonJS could not import the types of a framework that is a module only.
  const modules = Object.keys(BINDINGS).filter((name) => !BINDINGS[name].includes("cjs")).map((name) => join(out, declaration(binding(name))));
  for (const entry of entries) {
    const own = reachWithAdditions(entry, out);
    for (const file of own) reached.add(file);
  }
  for (const file of emitted(out)) {
    const text = readFileSync(file, "utf8");
    rmSync(file);
    if (!reached.has(file)) continue;
    const isModule = modules.includes(file);
    writeFileSync(isModule ? file : file.replace(/ts$/, "cts"), text.replaceAll(RELATIVE, "$1.cjs"));
    if (isModule) continue;
    if (entries.includes(file)) writeFileSync(file, `export * from "./${basename(file, ".d.ts")}.cjs";\n`);
  }
  demandPublicNames(out);
}

/** All declarations in a folder. */
function emitted(out) {
  return readdirSync(out, { recursive: true }).filter((name) => name.endsWith(".d.ts")).map((name) => join(out, name));
}

/** The name of a source's declaration. */
function declaration(source) {
  return source.replace(/ts$/, "d.ts");
}

/** Throws if a name that is shortened is that of a member which users see. */
function demandPublicNames(out) {
  const shortened = new Set([...INTERNAL.split(" "), ...exportsOf(WHOLE)]);
  for (const name of PUBLIC.map((module) => declaration(`${module}.ts`))) {
    const members = readFileSync(join(out, name.replace(/ts$/, "cts")), "utf8").matchAll(/^\s+(?:readonly |get |static |async )*"?(\w+)"?\??[:(<]/gm);
    for (const [, member] of members) {
      if (shortened.has(member)) throw new Error(`\`${member}\` is public (${name}), and would be shortened: rename one of them`);
    }
  }
}

/**
 * Collects an entry's declaration and what it imports. If that has types to which the files of protocols add, the entry imports those
 * files: a program may import no other entry.
 */
function reachWithAdditions(entry, out) {
  const [extended, additions] = ["client/settings.ts", "entries/families/types.ts"].map((source) => join(out, declaration(source)));
  const reached = new Set();
  reach(entry, reached);
  if (!reached.has(extended) || reached.has(additions)) return reached;
  const path = relative(dirname(entry), additions).replace(/\.d\.ts$/, ".js").replaceAll(sep, "/");
  writeFileSync(entry, `import "${path.startsWith(".") ? path : `./${path}`}";\n${readFileSync(entry, "utf8")}`);
  reach(additions, reached);
  return reached;
}

/** Collects a declaration and what it imports; imports of the glue are pointed to its copy. */
function reach(file, reached) {
  if (reached.has(file)) return;
  reached.add(file);
  const text = readFileSync(file, "utf8").replaceAll('"../../core/truefoundry/core.js"', '"../core.js"');
  writeFileSync(file, text);
  for (const [, imported] of text.matchAll(RELATIVE)) reach(join(dirname(file), `${imported}.d.ts`), reached);
}

/** Runs a Node program with its output shown; its failure is ours. */
function node(...command) {
  const { status, error } = spawnSync(process.execPath, command, { cwd: root, stdio: "inherit" });
  if (error !== undefined) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

const documents = () => copyDocuments(join(root, ".."), root);
const STAGES = { core, dist, documents, names, sources: () => writeSources(root), unpacker };
const [, , name, family] = process.argv;
const stage = STAGES[name];
if (stage === undefined || ((stage === core || stage === names) && ![WHOLE, ...FAMILIES].includes(family))) {
  console.error(`usage: node build.mjs ${Object.keys(STAGES).join("|")} [${[WHOLE, ...FAMILIES].join("|")}]`);
  process.exit(2);
}
await stage(family);
