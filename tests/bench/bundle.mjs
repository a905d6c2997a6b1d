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

/** Writes the chat pages to a folder, with this package in those that use it; returns their names. */
export async function bundleChats(outdir, path) {
  const built = (name) => existsSync(join(path, "dist", `${name}.js`));
  const chats = readdirSync(join(HERE, "chat"))
    .map((name) => /^(.*)\.jsx$/.exec(name)?.[1])
    .filter((name) => name !== undefined && name !== "shell")
    // Not every package has this entry.
    .filter((name) => name !== "turnwire-assistant-ui" || built("assistant-ui"));
  await build({
    ...COMMON,
    jsx: "automatic",
    entryPoints: chats.map((name) => join(HERE, "chat", `${name}.jsx`)),
    entryNames: "[name]",
    // What the package imports is what the page has.
    nodePaths: [join(HERE, "node_modules")],
    plugins: [{ name: "package", setup: ({ onResolve }) => onResolve({ filter: /^turnwire(\/|$)/ }, ({ path: own }) => ({ path: join(path, "dist", `${own.split("/")[1] ?? "index"}.js`) })) }],
    outdir,
  });
  return chats;
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
