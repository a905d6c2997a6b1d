// Imports a source of the package by itself, for tests of what no entry exports.
import { join } from "node:path";
import { build } from "esbuild";

const SOURCES = join(import.meta.dirname, "..", "..", "src");

/** The exports of a source, such as `conversation/partial-json.ts`. */
export async function source(name) {
  const { outputFiles } = await build({ entryPoints: [join(SOURCES, name)], bundle: true, write: false, format: "esm", target: "es2022", platform: "neutral" });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}
