// Builds the apps, each by its framework's usual tool, into `dist/`: a page in `NAME/`, and for servers `NAME-server/`.
// The starter pages are built the same way, into `starter-NAME/`.
//   node build.mjs [NAME…]      without names all apps of this run
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { blocksOf } from "../e2e/blocks.mjs";
import { ADAPTERS, FRAMEWORKS, STARTERS } from "./frameworks.mjs";

const FOLDER = import.meta.dirname;
const PACKAGE = join(FOLDER, "..", "..", "pkg");
const ANGULAR = join(FOLDER, "angular");
const STARTER_FILES = join(FOLDER, "..", "..", "www", "starters");
/** What is built: the folder that the gateway serves. */
export const DIST = join(FOLDER, "dist");

/** The app of a framework for a server: a module that exports `render(props)`. */
export const serverOf = (name) => (name === "angular" ? join(ANGULAR, "server.mjs") : join(DIST, `${name}-server`, "server.mjs"));

/** A copy of the package, as npm installs it: a link would lead to the package's own surroundings. */
function installPackage(home) {
  const place = join(home, "node_modules", "turnwire");
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  for (const part of ["package.json", "dist"]) cpSync(join(PACKAGE, part), join(place, part), { recursive: true });
}

/** The path in each app of the component that the guide shows for its framework. */
const GUIDES = {
  react: "react/guide.tsx",
  vue: "vue/Guide.vue",
  svelte: "svelte/Guide.svelte",
  solid: "solid/guide.tsx",
  angular: "angular/src/guide.ts",
};

/** The paths of the components of guides with one component each, all for React. */
const SINGLE = { conversation: "react/chat.tsx", "assistant-ui": "adapters/assistant.tsx", "use-chat": "adapters/use-chat.tsx" };

/** Writes the guides' components into the apps. */
function writeGuides() {
  const examples = blocksOf("docs/guides/frameworks.md").map(({ code }) => code);
  for (const [name, place] of Object.entries(GUIDES)) {
    const code = examples.find((example) => example.includes(`"turnwire/${name}"`));
    if (code === undefined) throw new Error(`the guide has no example for ${name}`);
    writeFileSync(join(FOLDER, place), code);
  }
  for (const [guide, place] of Object.entries(SINGLE)) {
    writeFileSync(join(FOLDER, place), blocksOf(`docs/guides/${guide}.md`).find(({ what }) => what === "app").code);
  }
}

async function buildWithVite(name, { folder, page, server, react, plugins }) {
  const { build } = await import("vite");
  const alias = react ? ["react", "react-dom"].map((own) => ({ find: new RegExp(`^${own}(?=/|$)`), replacement: join(react, own) })) : [];
  const common = { configFile: false, root: FOLDER, logLevel: "warn", base: "./", resolve: { alias } };
  const output = (part) => ({ outDir: join(DIST, part), emptyOutDir: true, target: "es2022" });
  const entry = { name: "entry", transformIndexHtml: { order: "pre", handler: (html) => html.replace("/page", `/${folder}/${page}`) } };
  await build({ ...common, plugins: [entry, ...plugins()], build: output(name) });
  if (!server) return;
  // React 18 has to be bundled: as an external module it would be the newer one.
  const noExternal = react ? true : [];
  const rollupOptions = { output: { entryFileNames: "server.mjs" } };
  await build({ ...common, plugins: plugins(), ssr: { noExternal }, build: { ...output(`${name}-server`), ssr: join(FOLDER, folder, server), rollupOptions } });
}

/** Builds one of Angular's two projects. */
function buildAngular(project) {
  installPackage(ANGULAR);
  execFileSync(process.execPath, ["node_modules/@angular/cli/bin/ng.js", "build", project], { cwd: ANGULAR, stdio: "inherit" });
}

/** Assembles a starter page as its user does: the framework's own files, and those that all have in common. */
function copyStarter(name, folder) {
  rmSync(folder, { recursive: true, force: true });
  cpSync(join(STARTER_FILES, name), folder, { recursive: true });
  for (const shared of ["chat.ts", "style.css"]) cpSync(join(STARTER_FILES, shared), join(folder, shared));
}

async function buildStarter(name) {
  const folder = name === "angular" ? join(ANGULAR, "starter") : join(FOLDER, "starters", name);
  copyStarter(name, folder);
  if (name === "angular") return buildAngular("starter");
  const { build } = await import("vite");
  const output = { outDir: join(DIST, `starter-${name}`), emptyOutDir: true };
  await build({ configFile: false, root: folder, logLevel: "warn", base: "./", plugins: STARTERS[name](), build: output });
}

if (process.argv[1] === import.meta.filename) {
  const [, , ...named] = process.argv;
  installPackage(FOLDER);
  writeGuides();
  const isNamed = (name) => named.length === 0 || named.includes(name);
  for (const name of Object.keys(FRAMEWORKS).filter(isNamed)) {
    console.log(`building the app of ${name}`);
    await (name === "angular" ? buildAngular("app") : buildWithVite(name, FRAMEWORKS[name]));
  }
  for (const name of Object.keys(ADAPTERS).filter(isNamed)) {
    console.log(`building the page of the adapter ${name}`);
    await buildWithVite(name, ADAPTERS[name]);
  }
  for (const name of Object.keys(STARTERS).filter((name) => isNamed(`starter-${name}`))) {
    console.log(`building the starter page of ${name}`);
    await buildStarter(name);
  }
}
