// The rows: bundlers, frameworks and runtimes, and how each is prepared and played.
//
// A row has a `name`, the `folder` in rows/ with what its tool needs (none: npm installs just the package), the
// `protocols` that it plays, whether it is in a `quick` run, and `play`, which gets the prepared folder and the world.
import { createHash } from "node:crypto";
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { chromium } from "playwright-core";
import { visitChat } from "./hydrate.mjs";
import { run, serve, start } from "./world.mjs";

const FIRST = ["truefoundry"];
const ALL = ["truefoundry", "awaken", "aap", "turn-rpc", ...(process.argv.includes("--quick") ? [] : ["ag-ui"])];

/** What a fake server speaks: all but tirea, whose turns are lost when they are cut. */
const FAKED = ["truefoundry", "trueforge", "awaken", "aap", "turn-rpc", "codex"];

const PAGE = '<!doctype html>\n<script type="module" src="/main.js"></script>\n';
const bin = (folder, name) => join(folder, "node_modules", ".bin", name);

/** Plays a page of a folder under the strict policy, or under none. */
async function page({ world, protocols }, folder, { scripts, query, isFree } = {}) {
  const server = await serve(folder, isFree ? null : scripts);
  try {
    return await world.visit(`${server.address}/`, protocols, { query, reports: server.reports });
  } finally {
    await server.stop();
  }
}

/** What the policy must also allow: import maps, which have no address. Parcel writes one. */
function inlineHashes(html) {
  const maps = [...html.matchAll(/<script type="?importmap"?>([^]*?)<\/script>/g)].map(([, map]) => map);
  return maps.map((map) => ` 'sha256-${createHash("sha256").update(map).digest("base64")}'`).join("");
}

/** A row whose tool builds a page into dist/. */
function bundler(name, command, { html = true, output = "dist", isFree = false, ...more } = {}) {
  return {
    name,
    folder: name,
    async play(row) {
      const [program, ...args] = command;
      await run(row.folder, bin(row.folder, program), args);
      const dist = join(row.folder, output);
      if (html) writeFileSync(join(dist, "index.html"), PAGE);
      return page(row, dist, { isFree, scripts: inlineHashes(readFileSync(join(dist, "index.html"), "utf8")) });
    },
    ...more,
  };
}

/** A row that is a program, which prints what it played. */
function program(name, command, { file = "main.mjs", text = ESM, ...more } = {}) {
  return {
    name,
    async play({ folder, world, protocols }) {
      writeFileSync(join(folder, file), text);
      const [first, ...args] = command(folder);
      const printed = await run(folder, first, [...args, file], { GATEWAY: world.gateway, PROTOCOLS: String(protocols) });
      return { results: JSON.parse(printed.trim().split("\n").at(-1)) };
    },
    ...more,
  };
}

const PLAY = 'play(connect, process.env.GATEWAY, process.env.PROTOCOLS.split(",")).then((result) => { console.log(JSON.stringify(result)); process.exit(); }, (error) => { console.log(JSON.stringify({ error: String(error.stack) })); process.exit(); });\n';
const ESM = `import process from "node:process";\nimport { connect } from "turnwire";\nimport { play } from "./app/play.mjs";\n${PLAY}`;
const CJS = `const { connect } = require("turnwire");\nimport("./app/play.mjs").then(({ play }) => ${PLAY.trim().replace(/;$/, "")});\n`;

/** A script of the page or of a worker, bundled by esbuild from the package's own development tools. */
function bundled(folder, entry, name, options = {}) {
  const { build } = createRequire(join(import.meta.dirname, "..", "..", "pkg", "package.json"))("esbuild");
  return build({ absWorkingDir: folder, entryPoints: { [name]: entry }, outdir: "dist", bundle: true, format: "esm", splitting: true, ...options });
}

/** A worker of a kind, on a page under the policy. */
function worker(kind) {
  return {
    name: `${kind} worker`,
    async play(row) {
      await bundled(row.folder, "app/workers.mjs", "main");
      await bundled(row.folder, "app/worker.mjs", "worker", { splitting: false });
      writeFileSync(join(row.folder, "dist", "index.html"), PAGE);
      return page(row, join(row.folder, "dist"), { query: `&kind=${kind}` });
    },
  };
}

/** A test runner, whose test plays a fake server of the package's. */
function runner(name, folder, command, more) {
  return {
    name,
    folder,
    protocols: FAKED,
    async play({ folder, world, protocols }) {
      const results = join(folder, "results.json");
      rmSync(results, { force: true });
      const [program, ...args] = command;
      await run(folder, bin(folder, program), args, { TEXT: world.expected, PROTOCOLS: String(protocols), RESULTS: results });
      return { results: JSON.parse(readFileSync(results, "utf8")) };
    },
    ...more,
  };
}

/** A row that has no WebAssembly: a bundle of Metro, in the engine of React Native. */
const HERMES = {
  name: "Hermes, Metro: `turnwire/nowasm`",
  folder: "hermes",
  protocols: ["truefoundry", "trueforge"],
  async play({ folder, world, protocols }) {
    writeFileSync(join(folder, "task.json"), JSON.stringify({ protocols, text: world.expected }));
    mkdirSync(join(folder, "dist"));
    await run(folder, bin(folder, "metro"), ["build", "main.js", "--config", "metro.config.cjs", "--platform", "ios", "--dev", "false", "--minify", "false", "--out", "dist/main.js"]);
    const system = { darwin: "osx", win32: "win64" }[process.platform] ?? "linux64";
    const printed = await run(folder, join(folder, "node_modules", "hermes-engine-cli", `${system}-bin`, "hermes"), ["-O", "-w", "dist/main.js"]);
    return { results: JSON.parse(printed.trim().split("\n").at(-1)) };
  },
};

/** A Next.js application, built and started once for its rows. */
function next(tool, flag, kind, more) {
  return {
    name: `Next.js, ${tool}: ${kind}`,
    folder: "next",
    copy: `next-${tool}`,
    async play({ folder, world, protocols, once }) {
      for (const file of ["play.mjs", "chat.mjs"]) copyFileSync(join(folder, "app-shared", file), join(folder, file));
      const { address } = await once(async () => {
        await run(folder, bin(folder, "next"), ["build", flag], { NEXT_TELEMETRY_DISABLED: "1" });
        return start(bin(folder, "next"), ["start", "--port", "0", "--hostname", "127.0.0.1"], { cwd: folder }, /(http:\/\/127\.0\.0\.1:\d+)/);
      });
      if (kind === "hydrated conversation") return visitChat(world, `${address}/chat`);
      if (kind === "client component") return world.visit(`${address}/`, protocols);
      const path = kind === "server route" ? "node" : "api/edge";
      return { results: await (await fetch(`${address}/${path}?gateway=${encodeURIComponent(world.gateway)}&protocols=${protocols}`)).json() };
    },
    ...more,
  };
}

export const ROWS = [
  {
    name: "script tag",
    quick: true,
    async play(row) {
      const { folder } = row;
      writeFileSync(join(folder, "main.js"), 'import { connect } from "/node_modules/turnwire/dist/index.js";\nimport { play } from "/app/play.mjs";\n' + SHOW);
      writeFileSync(join(folder, "index.html"), PAGE);
      return page(row, folder);
    },
  },
  {
    name: "import map",
    async play(row) {
      const { folder } = row;
      const map = '{ "imports": { "turnwire": "/node_modules/turnwire/dist/index.js" } }';
      const html = `<!doctype html>\n<script type="importmap">${map}</script>\n<script type="module" src="/app/page.mjs"></script>\n`;
      writeFileSync(join(folder, "index.html"), html);
      return page(row, folder, { scripts: inlineHashes(html) });
    },
  },
  bundler("vite", ["vite", "build"], { html: false, quick: true, name: "Vite, build", protocols: ALL }),
  {
    name: "Vite, development server",
    folder: "vite",
    copy: "vite-dev",
    async play({ folder, world, protocols }) {
      const { address, stop } = await start(bin(folder, "vite"), ["--host", "127.0.0.1", "--port", "0"], { cwd: folder }, /(http:\/\/127\.0\.0\.1:\d+)/);
      try {
        return await world.visit(`${address}/`, protocols);
      } finally {
        await stop();
      }
    },
  },
  bundler("webpack", ["webpack"], { quick: true, name: "webpack 5", protocols: ALL }),
  bundler("rspack", ["rspack", "build"], { name: "Rspack" }),
  bundler("rollup", ["rollup", "--config", "--silent"], { name: "Rollup" }),
  bundler("esbuild", ["esbuild", "app/page.mjs", "--bundle", "--splitting", "--format=esm", "--outdir=dist", "--entry-names=main", "--log-level=error"], { quick: true }),
  bundler("parcel", ["parcel", "build", "index.html", "--no-cache", "--no-source-maps"], { html: false, name: "Parcel" }),
  bundler("astro", ["astro", "build"], { html: false, name: "Astro" }),
  bundler("sveltekit", ["vite", "build"], { html: false, name: "SvelteKit", isFree: true }),
  {
    name: "SvelteKit: hydrated conversation",
    folder: "sveltekit",
    async play({ folder, world }) {
      await run(folder, bin(folder, "vite"), ["build"]);
      const env = { ...process.env, PATH: `${join(folder, "node_modules", ".bin")}${delimiter}${process.env.PATH}` };
      const { address, stop } = await start(bin(folder, "vite"), ["preview", "--host", "127.0.0.1", "--port", "0"], { cwd: folder, env }, /(http:\/\/127\.0\.0\.1:\d+)/);
      try {
        return await visitChat(world, `${address}/chat`);
      } finally {
        await stop();
      }
    },
  },
  bundler("nuxt", ["nuxt", "generate"], { html: false, output: ".output/public", name: "Nuxt", isFree: true }),
  ...[["Turbopack", "--turbopack", true], ["webpack", "--webpack", false]].flatMap(([tool, flag, quick]) => [
    next(tool, flag, "client component", { quick, protocols: ALL }),
    next(tool, flag, "server route", { quick }),
    next(tool, flag, "edge route", {}),
    next(tool, flag, "hydrated conversation", { quick }),
  ]),
  program("Node 20, import", () => ["node"], { quick: true, protocols: ["truefoundry", "awaken", "aap"] }),
  program("Node 20, require", () => ["node"], { quick: true, file: "main.cjs", text: CJS }),
  program("Node 22, import", (folder) => [bin(folder, "node")], { folder: "node22", protocols: ALL }),
  program("Node 22, require", (folder) => [bin(folder, "node")], { folder: "node22", file: "main.cjs", text: CJS }),
  program("Bun", (folder) => [bin(folder, "bun"), "run"], { quick: true, folder: "bun", protocols: ALL }),
  runner("Vitest", "vitest", ["vitest", "run"], { quick: true }),
  runner("Vitest, jsdom", "vitest", ["vitest", "run", "--environment", "jsdom"], {}),
  runner("Jest", "jest", ["jest"], { quick: true }),
  runner("Jest, jsdom", "jest", ["jest", "--env", "jest-fixed-jsdom"], {}),
  program("Deno", (folder) => [bin(folder, "deno"), "run", "--allow-all", "--node-modules-dir=manual"], { quick: true, folder: "deno", protocols: ALL }),
  HERMES,
  {
    name: "workerd",
    folder: "workerd",
    quick: true,
    async play({ folder, world, protocols }) {
      const flags = ["--bundle", "--format=esm", "--conditions=workerd", "--external:*.wasm", "--outfile=dist/worker.js", "--log-level=error"];
      await run(folder, bin(folder, "esbuild"), ["worker.mjs", ...flags]);
      const dist = join(folder, "dist");
      const modules = readdirSync(join(folder, "node_modules", "turnwire", "dist")).filter((name) => name.endsWith(".wasm"));
      for (const name of modules) copyFileSync(join(folder, "node_modules", "turnwire", "dist", name), join(dist, name));
      const listed = modules.map((name) => `(name = "${name}", wasm = embed "${name}")`);
      writeFileSync(join(dist, "config.capnp"), `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (modules = [(name = "worker.js", esModule = embed "worker.js"), ${listed}], compatibilityDate = "2025-09-01", globalOutbound = "local")),
    (name = "local", network = (allow = ["private", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:8799", http = (), service = "main")],
);
`);
      const { address, stop } = await start(bin(folder, "workerd"), ["serve", "--verbose", "config.capnp", "--socket-addr", "http=127.0.0.1:0", "--control-fd=1"], { cwd: dist }, /"port":(\d+)/);
      try {
        const url = `http://127.0.0.1:${address}/?gateway=${encodeURIComponent(world.gateway)}&protocols=${protocols}`;
        return { results: await (await fetch(url)).json() };
      } finally {
        await stop();
      }
    },
  },
  ...["dedicated", "shared", "service"].map(worker),
  {
    name: "Chrome extension page",
    async play(row) {
      const { folder, world, protocols } = row;
      await bundled(folder, "app/page.mjs", "main");
      const dist = join(folder, "dist");
      const policy = { extension_pages: "script-src 'self' 'wasm-unsafe-eval'; object-src 'self'" };
      const manifest = { manifest_version: 3, name: "turnwire", version: "1", background: { service_worker: "background.js" }, content_security_policy: policy };
      writeFileSync(join(dist, "manifest.json"), JSON.stringify(manifest));
      writeFileSync(join(dist, "background.js"), "");
      writeFileSync(join(dist, "index.html"), PAGE);
      const args = [`--disable-extensions-except=${dist}`, `--load-extension=${dist}`, "--headless=new", "--disable-features=DisableLoadExtensionCommandLineSwitch"];
      const context = await chromium.launchPersistentContext("", { executablePath: process.env.CHROME, headless: false, args });
      try {
        const background = context.serviceWorkers()[0] ?? (await context.waitForEvent("serviceworker"));
        return await world.visit(new URL("/index.html", background.url()).href, protocols, { context });
      } finally {
        await context.close();
      }
    },
  },
];

const SHOW = `const query = new URLSearchParams(location.search);
const show = (result) => document.body.append(Object.assign(document.createElement("output"), { textContent: JSON.stringify(result) }));
play(connect, query.get("gateway"), query.get("protocols").split(",")).then(show, (error) => show({ error: String(error.stack) }));
`;

/** Prepares the folder of a row: its own files, the app, and what they need. */
export async function prepare(row, work, tarball) {
  const folder = join(work, row.copy ?? row.folder ?? row.name.replaceAll(/\W+/g, "-"));
  mkdirSync(folder, { recursive: true });
  // No file of an earlier run may hide a missing one.
  rmSync(join(folder, "dist"), { recursive: true, force: true });
  const app = join(import.meta.dirname, "app");
  if (row.folder) cpSync(join(import.meta.dirname, "rows", row.folder), folder, { recursive: true });
  else writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  cpSync(app, join(folder, ["next", "nuxt", "sveltekit"].includes(row.folder) ? "app-shared" : "app"), { recursive: true });
  if (row.folder) {
    // Not `npm ci`: it refuses a lock file without packages for platforms that a mirror lacks.
    await run(folder, "npm", ["install", "--no-audit", "--no-fund", "--prefer-offline"]);
    const place = join(folder, "node_modules", "turnwire");
    rmSync(place, { recursive: true, force: true });
    mkdirSync(place, { recursive: true });
    // As npm does it: the package has no dependencies.
    await run(folder, "tar", ["xzf", tarball, "-C", place, "--strip-components=1"]);
  } else {
    await run(folder, "npm", ["install", "--no-audit", "--no-fund", tarball]);
  }
  return folder;
}

export { FIRST };
