// The types of an entry in a program that imports no other: they have what protocols add to the types of all.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

const PACKAGE = join(import.meta.dirname, "..");
const COMPILER = join(PACKAGE, "node_modules", "typescript", "bin", "tsc");
const OPTIONS = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--skipLibCheck"];

/** Each entry, with the type of a client that a program finds there. */
const CLIENTS = {
  turnwire: 'import type { Client } from "turnwire";',
  "turnwire/conversation":
    'import type { Conversations } from "turnwire/conversation";\n' +
    'type Client = Awaited<ConstructorParameters<typeof Conversations>[0]["client"]>;',
};

/** What the compiler says of a program that has these sources. */
function compile(context, sources) {
  const folder = mkdtempSync(join(tmpdir(), "turnwire-types-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(PACKAGE, join(folder, "node_modules", "turnwire"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  for (const [name, text] of Object.entries(sources)) writeFileSync(join(folder, name), text);
  return spawnSync(process.execPath, [COMPILER, ...OPTIONS, ...Object.keys(sources)], { cwd: folder, encoding: "utf8" }).stdout;
}

for (const [entry, client] of Object.entries(CLIENTS)) {
  test(`${entry} alone: a session of AG-UI begins with messages, and has a state`, (context) => {
    const program = (options) => `${client}\nexport const begin = (client: Client) => client.agents.createSession("a", ${options});\n`;
    const right = '{ messages: [{ role: "user", content: "Hello" }], state: { count: 1 } }';
    const said = compile(context, { "right.ts": program(right), "wrong.ts": program("{ messages: 3 }") });
    assert.match(said, /^wrong\.ts\(.*TS2322/);
    assert.doesNotMatch(said, /right\.ts/);
  });
}
