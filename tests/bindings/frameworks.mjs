// The frameworks that the bindings are for: how an app of each is built, and how it is rendered on a server.
import { join } from "node:path";
import { IS_QUICK } from "../rows.mjs";

const FOLDER = import.meta.dirname;
/** Plugins are loaded on demand: a quick run has few frameworks. */
const plugin = async (name, options) => (await import(name)).default(options);

const react = () => plugin("@vitejs/plugin-react");
const REACT = { folder: "react", page: "page.jsx", server: "server.jsx" };

/** The frameworks by name: the folder of the app, its entries, and what Vite needs. Angular has a tool of its own. */
const ALL = {
  "react-19": { ...REACT, plugins: () => [react()] },
  "react-18": { ...REACT, plugins: () => [react()], react: join(FOLDER, "react-18/node_modules") },
  "react-compiler": { ...REACT, plugins: () => [reactCompiler(), react()] },
  vue: { folder: "vue", page: "page.js", server: "server.js", plugins: () => [plugin("@vitejs/plugin-vue")] },
  svelte: { folder: "svelte", page: "page.svelte.js", server: "server.js", plugins: () => [svelte()] },
  solid: { folder: "solid", page: "page.jsx", server: "server.jsx", plugins: () => [plugin("vite-plugin-solid", { ssr: true })] },
  angular: {},
};

const QUICK = ["react-19", "svelte"];

/** The frameworks of this run. */
export const FRAMEWORKS = Object.fromEntries(Object.entries(ALL).filter(([name]) => !IS_QUICK || QUICK.includes(name)));

/** The pages of the adapters. */
export const ADAPTERS = Object.fromEntries(["ai", "assistant-ui"].map((name) => [name, { folder: "adapters", page: `${name}.jsx`, plugins: () => [react()] }]));

/** The starter pages of this run, in `www/starters`: what Vite needs for each. */
export const STARTERS = Object.fromEntries(
  Object.entries({ react: "react-19", vue: "vue", svelte: "svelte", solid: "solid", angular: "angular", plain: undefined })
    .filter(([, framework]) => !IS_QUICK || QUICK.includes(framework))
    .map(([name, framework]) => [name, framework ? ALL[framework].plugins : () => []]),
);

async function svelte() {
  return (await import("@sveltejs/vite-plugin-svelte")).svelte({ configFile: false });
}

/** The React Compiler, as a step before all others. */
function reactCompiler() {
  return {
    name: "react-compiler",
    enforce: "pre",
    async transform(code, id) {
      if (!id.startsWith(join(FOLDER, "react")) || !/\.[jt]sx$/.test(id)) return undefined;
      const { transformAsync } = await import("@babel/core");
      const options = { filename: id, babelrc: false, configFile: false, parserOpts: { plugins: ["jsx", "typescript"] }, sourceMaps: true };
      const compiled = await transformAsync(code, { ...options, plugins: ["babel-plugin-react-compiler"] });
      if (id.endsWith("app.jsx") && !compiled.code.includes("react/compiler-runtime")) throw new Error(`the compiler left ${id} as it was`);
      return { code: compiled.code, map: compiled.map };
    },
  };
}
