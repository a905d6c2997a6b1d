// Servers as processes of their own, which print the port that they listen on.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** Starts one of this folder's programs. */
export async function startServer(program, ...given) {
  const child = spawn(process.execPath, [join(import.meta.dirname, program), ...given], { stdio: ["ignore", "pipe", "inherit"] });
  const kill = () => child.kill();
  process.once("exit", kill);
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  return {
    port: Number(line),
    async stop() {
      process.off("exit", kill);
      const ended = once(child, "exit");
      child.kill();
      await ended;
    },
  };
}
