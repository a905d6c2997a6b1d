// Node as an engine: each group of rows in a separate process.
import { fork } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export const name = "Node";

/** Starts the engine. `folder` has the bundles; a package is a folder with `dist/`. */
export async function start({ folder, packages }) {
  const file = (...parts) => pathToFileURL(join(...parts)).href;
  return {
    version: process.version,
    urls: { bundle: (module) => file(folder, `${module}.js`), package: (at, entry = "index") => file(packages[at], "dist", `${entry}.js`) },
    async open() {
      const child = fork(join(import.meta.dirname, "node-child.mjs"), [file(folder, "inside.js")], {
        execArgv: ["--expose-gc", "--no-flush-bytecode"],
      });
      const ended = new Promise((resolve) => child.once("exit", resolve));
      return {
        call: (...given) => ask(child, given),
        timed: (...given) => ask(child, ["timed", ...given]),
        heapBytes: () => ask(child, ["heapBytes"]),
        async close() {
          child.kill();
          await ended;
        },
      };
    },
    async stop() {},
  };
}

function ask(child, given) {
  return new Promise((resolve, reject) => {
    const died = (code) => reject(new Error(`the process that measures ended with code ${code}`));
    child.once("exit", died);
    child.once("message", ({ result, error }) => {
      child.off("exit", died);
      if (error === undefined) resolve(result);
      else reject(new Error(error));
    });
    child.send(given);
  });
}
