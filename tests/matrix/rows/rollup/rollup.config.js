import resolve from "@rollup/plugin-node-resolve";

export default { input: "app/page.mjs", output: { dir: "dist", entryFileNames: "main.js" }, plugins: [resolve({ browser: true })] };
