// Builds the apps, each by its framework's usual tool, into `dist/`: a page in `NAME/`, and for servers `NAME-server/`.
//   node build.mjs [NAME…]      without names all of this run
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { blocksOf } from "../e2e/blocks.mjs";
import { FRAMEWORKS } from "./frameworks.mjs";

const FOLDER = import.meta.dirname;
const PACKAGE = join(FOLDER, "..", "..", "pkg");
/** What is built: the folder that the gateway serves. */
export const DIST = join(FOLDER, "dist");

/** The app of a framework for a server: a module that exports `render(props)`. */
export const serverOf = (name) => (name === "angular" ? join(FOLDER, "angular", "server.mjs") : join(DIST, `${name}-server`, "server.mjs"));

/** A copy of the package, as npm installs it: a link would lead to the package's own surroundings. */
function installPackage(home) {
  const place = join(home, "node_modules", "turnwire");
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  for (const part of ["package.json", "dist"]) cpSync(join(PACKAGE, part), join(place, part), { recursive: true });
}

/** Where each app has the component that the guide shows for its framework. */
const GUIDES = {
  react: "react/guide.tsx",
  vue: "vue/Guide.vue",
  svelte: "svelte/Guide.svelte",
  solid: "solid/guide.tsx",
  angular: "angular/src/guide.ts",
};

/** Writes the guide's components into the apps. */
function writeGuides() {
  const examples = blocksOf("docs/guides/frameworks.md").map(({ code }) => code);
  for (const [name, place] of Object.entries(GUIDES)) {
    const code = examples.find((example) => example.includes(`"turnwire/${name}"`));
    if (code === undefined) throw new Error(`the guide has no example for ${name}`);
    writeFileSync(join(FOLDER, place), code);
  }
}

async function buildWithVite(name, { folder, page, server, react, plugins }) {
  const { build } = await import("vite");
  const alias = react ? ["react", "react-dom"].map((own) => ({ find: new RegExp(`^${own}(?=/|$)`), replacement: join(react, own) })) : [];
  const common = { configFile: false, root: FOLDER, logLevel: "warn", base: "./", resolve: { alias } };
  const output = (part) => ({ outDir: join(DIST, part), emptyOutDir: true, target: "es2022" });
  const entry = { name: "entry", transformIndexHtml: { order: "pre", handler: (html) => html.replace("/page", `/${folder}/${page}`) } };
  await build({ ...common, plugins: [entry, ...plugins()], build: output(name) });
  // React 18 has to be inside: outside it would be the other one.
  const noExternal = react ? true : [];
  const rollupOptions = { output: { entryFileNames: "server.mjs" } };
  await build({ ...common, plugins: plugins(), ssr: { noExternal }, build: { ...output(`${name}-server`), ssr: join(FOLDER, folder, server), rollupOptions } });
}

function buildAngular(home) {
  installPackage(home);
  execFileSync(process.execPath, ["node_modules/@angular/cli/bin/ng.js", "build"], { cwd: home, stdio: "inherit" });
}

if (process.argv[1] === import.meta.filename) {
  const [, , ...named] = process.argv;
  installPackage(FOLDER);
  writeGuides();
  for (const name of named.length > 0 ? named : Object.keys(FRAMEWORKS)) {
    console.log(`building the app of ${name}`);
    await (name === "angular" ? buildAngular(join(FOLDER, "angular")) : buildWithVite(name, FRAMEWORKS[name]));
  }
}
