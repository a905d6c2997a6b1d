// A core as JavaScript, for pages that forbid WebAssembly and engines without it. binaryen's wasm2js writes it.
import { spawnSync } from "node:child_process";
import { join } from "node:path";

/** What wasm2js cannot write is expressed by simpler instructions first. */
export const LOWERED = [
  "--signext-lowering",
  "--llvm-nontrapping-fptoint-lowering",
  "--llvm-memory-copy-fill-lowering",
  "--strip-producers",
  "--strip-target-features",
];

/** Returns a module as a script, whose `start()` returns the exports of a new core. */
export function scriptOf(module, root) {
  const wasm2js = join(root, "node_modules", "binaryen", "bin", "wasm2js");
  const limits = { encoding: "utf8", maxBuffer: 1 << 26 };
  const { status, stdout, stderr } = spawnSync(process.execPath, [wasm2js, "-Oz", "--mvp-features", module, "-o", "-"], limits);
  if (status !== 0) throw new Error(`wasm2js failed: ${stderr}`);
  const script = stdout
    // It starts one core by itself, and exports what that has.
    .replace(/^var retasmFunc = asmFunc\(\{[^]*?\}\);$/m, "export const start = () => asmFunc({});")
    .replace(/^export var .*$/gm, "")
    // It changes the names of exports that are not those of variables.
    .replace(/"\$(\d\w*)": /g, '"$1": ');
  if (!script.includes("export const start")) throw new Error("wasm2js writes its scripts in another way: correct script.mjs");
  return script;
}
