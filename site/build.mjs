// Builds the site: copies the documents, writes the reference from the types' comments, and has VitePress check and build
// all of it. What is not documented, and a link that leads nowhere, end the build.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";
import { deadAnchors } from "./anchors.mjs";
import { PAGES, REPOSITORY } from "./pages.mjs";
import { withTabs } from "./tabs.mjs";

const HERE = import.meta.dirname;
const ROOT = join(HERE, "..");
const OUT = join(HERE, "pages");
const LINK = /(!?\[[^\]]*\]\()(?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?\)/g;

rmSync(OUT, { recursive: true, force: true });
for (const name of PAGES) copy(name);
for (const asset of ["docs/bench.svg", "www/demo.png"]) cpSync(join(ROOT, asset), join(OUT, asset));
if (existsSync(join(ROOT, "www", "dist", "index.html"))) demo();
reference();
run("vitepress", "build");
const dead = deadAnchors(join(HERE, ".vitepress", "dist"), process.env.SITE_BASE);
if (dead.length > 0) {
  console.error([...dead, "these links lead to no heading"].join("\n"));
  process.exit(1);
}

/** Copies the demo, which plays its own scripts: the site has no gateway. */
function demo() {
  const folder = join(OUT, "public", "demo");
  cpSync(join(ROOT, "www", "dist"), folder, { recursive: true });
  const page = join(folder, "index.html");
  writeFileSync(page, readFileSync(page, "utf8").replace("<html ", '<html data-server="scripted" '));
}

/** Copies a document. The README is the first page; links to files that are no pages lead to the repository. */
function copy(name) {
  const text = readFileSync(join(ROOT, name), "utf8").replace(LINK, (_, open, target, anchor = "") => {
    const path = normalize(join(dirname(name), target));
    if (path === "README.md") return `${open}/${anchor})`;
    if (PAGES.includes(path) || /^(?:docs\/bench\.svg|www\/demo\.png)$/.test(path)) return `${open}/${path}${anchor})`;
    return `${open}${REPOSITORY}/blob/main/${path}${anchor})`;
  });
  const file = join(OUT, name === "README.md" ? "index.md" : name);
  mkdirSync(dirname(file), { recursive: true });
  // VitePress takes words after the language for its own.
  writeFileSync(file, withTabs(text).replaceAll(/^```(\w+) \w+$/gm, "```$1"));
}

/** Writes the reference of all entries. What several export is described once. Members of unions inside a type are described with the type. */
function reference() {
  const { status, stdout, stderr } = spawnSync(join(HERE, "node_modules", ".bin", "typedoc"), ["--options", "typedoc.json"], { cwd: HERE, encoding: "utf8" });
  const said = `${stdout}${stderr}`.split("\n");
  const missing = said.filter((line) => /warning|error/.test(line) && !line.includes("__type.") && !/Found \d+ error/.test(line));
  if (status !== 0 || missing.length > 0) {
    console.error([...missing, "the reference lacks these comments"].join("\n"));
    process.exit(1);
  }
  // Comments name types as in code, which Vue would take for elements.
  for (const name of readdirSync(join(OUT, "reference"), { recursive: true })) {
    const file = join(OUT, "reference", name);
    if (basename(name).endsWith(".md")) writeFileSync(file, readFileSync(file, "utf8").replaceAll("{{", "&#123;&#123;"));
  }
}

function run(tool, ...args) {
  const { status } = spawnSync(join(HERE, "node_modules", ".bin", tool), args, { cwd: HERE, stdio: "inherit" });
  if (status !== 0) process.exit(1);
}
