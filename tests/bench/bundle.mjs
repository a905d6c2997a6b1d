// Bundles what runs inside of the engines: the measuring, and each candidate by itself, as a page's bundler does it.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const HERE = import.meta.dirname;

const COMMON = {
  bundle: true,
  format: "esm",
  platform: "browser",
  target: "es2022",
  define: { "process.env.NODE_ENV": '"production"' },
  minify: true,
  logLevel: "warning",
};

/** Writes the bundles to a folder: `inside.js`, and a file for each candidate. */
export async function bundle(outdir) {
  const candidates = readdirSync(join(HERE, "candidates")).filter((name) => name.endsWith(".mjs"));
  await build({
    ...COMMON,
    entryPoints: [join(HERE, "inside.mjs"), ...candidates.map((name) => join(HERE, "candidates", name))],
    entryNames: "[name]",
    outdir,
  });
}

/**
 * Writes to a folder of its own what a page downloads that uses one candidate and nothing else; `path` is the package. What
 * a page loads later, if ever, is split off. The entry is `entry.js`.
 */
export async function bundlePage(outdir, candidate, path) {
  const own = join(HERE, "start", `${candidate}.mjs`);
  await build({
    ...COMMON,
    entryPoints: [existsSync(own) ? own : join(HERE, "candidates", `${candidate}.mjs`)],
    entryNames: "entry",
    alias: { turnwire: join(path, "dist", "index.js") },
    splitting: true,
    outdir,
  });
}
