// The README's first example, run as it stands against the demo's gateway: only the port is another one.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { startGateway } from "./harness.mjs";

const root = join(import.meta.dirname, "..", "..");
const RUN_LIMIT_MS = 20_000;

/** A folder in which the package is installed, and nothing else. */
function project(t) {
  const folder = mkdtempSync(join(tmpdir(), "turnwire-readme-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(join(root, "pkg"), join(folder, "node_modules", "turnwire"), "dir");
  return folder;
}

test("the README's example prints the answer, and what waits", async (t) => {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const example = /^```js\n(.*?)^```$/ms.exec(readme)?.[1];
  assert.ok(example, "the README has no example in JavaScript");
  const folder = project(t);
  const gateway = await startGateway(folder);
  t.after(() => gateway.stop());

  const written = /http:\/\/127\.0\.0\.1:\d+/g;
  assert.equal(example.match(written)?.length, 1, "the example names the gateway once");
  const program = join(folder, "example.mjs");
  writeFileSync(program, example.replace(written, gateway.url));
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program], { timeout: RUN_LIMIT_MS });

  assert.equal(stderr, "");
  const [, text, actions] = /^(.*)done (\[.*\])\s*$/s.exec(stdout) ?? [];
  assert.ok(text?.trim(), `no text, then the status and the actions, in: ${stdout}`);
  assert.match(actions, /^\[\]$|type: 'tool\.approval_required'/);
});
