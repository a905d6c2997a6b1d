// A page for each family of protocols, made by a bundler that splits: with `turnwire`, which loads the family's core when it
// connects, and with the entry that has it inside; one has it as JavaScript.
import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "../../pkg/node_modules/esbuild/lib/main.js";

const pkg = join(import.meta.dirname, "..", "..", "pkg");

/** The families: the page's protocol, the gateway's path, and the agent. */
const FAMILIES = {
  truefoundry: { protocol: "truefoundry", path: "demo", agent: "support-bot" },
  "agent-event": { protocol: "tirea", path: "tirea", agent: "support-bot" },
  aap: { protocol: "aap", path: "aap", agent: "support-bot" },
  "turn-rpc": { protocol: "turn-rpc", path: "turn-rpc", agent: "Chat" },
  "ag-ui": { protocol: "ag-ui", path: "ag-ui", agent: "support-bot" },
};

/** The ways to load a core, with the imported entry. */
const WAYS = { split: () => "turnwire", inside: (family) => `turnwire/${family}`, nowasm: () => "turnwire/nowasm" };

/** All pages, as `[family, way]`. */
export const PAGES = [
  ...Object.keys(FAMILIES).flatMap((family) => ["split", "inside"].map((way) => [family, way])),
  ["truefoundry", "nowasm"],
];

/** Where a page is below the folder in which it was built. */
export const pathOf = (family, way) => `pages/${family}-${way}`;

/**
 * Builds a page in `folder`, for the gateway at `origin`; by default the one that serves the page. Returns the contents of the
 * files that it loads, by their names.
 */
export async function buildPage(folder, family, way, origin) {
  const { protocol, path, agent } = FAMILIES[family];
  const outdir = join(folder, pathOf(family, way));
  const contents = `import { connect } from "${WAYS[way](family)}";
    const client = await connect({ baseUrl: ${origin ? JSON.stringify(origin) : "location.origin"} + "/${path}", protocol: "${protocol}" });
    const session = await client.agents.createSession("${agent}");
    const turn = session.createTurn({ input: "Hello" });
    for await (const { type } of turn.stream()) performance.mark(type);
    document.title = turn.status;`;
  const { metafile, outputFiles } = await build({
    stdin: { contents, resolveDir: pkg, sourcefile: "page.js" },
    entryNames: "page",
    outdir,
    write: false,
    bundle: true,
    splitting: true,
    format: "esm",
    minify: true,
    target: "es2022",
    metafile: true,
    absWorkingDir: pkg,
  });
  mkdirSync(outdir, { recursive: true });
  writeFileSync(join(outdir, "index.html"), HTML);
  const files = new Map(outputFiles.map((file) => [relative(outdir, file.path), file]));
  for (const { path, contents } of files.values()) writeFileSync(path, contents);
  const loaded = [...loads(metafile, family)].map((file) => relative(outdir, join(pkg, file)));
  return new Map(loaded.map((name) => [name, files.get(name).contents]));
}

const HTML = `<!doctype html><html lang="en"><head><meta charset="utf-8"><link rel="icon" href="data:,"><title></title></head>
<body><script type="module" src="page.js"></script></body></html>
`;

/** The files that a page loads which speaks the protocols of a family. */
function loads({ outputs }, family) {
  const loaded = new Set();
  const load = (file) => {
    if (loaded.has(file)) return;
    loaded.add(file);
    for (const { path, kind } of outputs[file].imports) {
      if (kind === "import-statement" || outputs[path].entryPoint?.endsWith(`/${family}-core.js`)) load(path);
    }
  };
  load(Object.keys(outputs).find((file) => file.endsWith("/page.js")));
  return loaded;
}

/** The bytes of files, each as web servers send it: raw, by gzip, by brotli, at the highest levels. */
export function weigh(contents) {
  const sizes = Array.from(contents, (bytes) => {
    const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    return [bytes.length, gzipSync(bytes, { level: 9 }).length, brotliCompressSync(bytes, { params }).length];
  });
  return sizes.reduce((sums, own) => sums.map((sum, at) => sum + own[at]), [0, 0, 0]);
}
