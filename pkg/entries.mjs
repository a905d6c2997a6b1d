// The sources that follow from families.json. The build writes them, and git ignores them:
//   src/boundary/protocols.ts           the protocols and their families, as types and values
//   src/testing/fakes.ts                the fakes of all protocols
//   src/entries/families/NAME-core.ts   a family's core with its extras
//   src/entries/families/NAME.ts        the entry `turnwire/NAME`, with that core inside
//   src/entries/families/split.ts       the cores of `turnwire`, each in a file of its own
//   src/entries/families/extras.ts      the extras for `turnwire/slim`
//   src/entries/families/workers.ts     the cores for Workers
//   src/entries/families/types.ts       the types of users that only some families have
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const HEAD = "// Written by pkg/entries.mjs from pkg/families.json: do not edit it.\n";

/**
 * The families: by name the protocols, the file of types that only this family has, and the extras by what the face calls
 * them, each as `file export`.
 */
export const families = JSON.parse(readFileSync(join(import.meta.dirname, "families.json"), "utf8"));

/** Writes the sources that have changed. */
export function writeSources(root) {
  for (const [name, text] of Object.entries(sources())) {
    const file = join(root, "src", name);
    mkdirSync(dirname(file), { recursive: true });
    if (current(file) !== text) writeFileSync(file, text);
  }
}

function current(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

/** All sources by their names. */
function sources() {
  const all = Object.entries(families);
  const own = all.flatMap(([family, { protocols, extras = {} }]) => [
    [`entries/families/${family}-core.ts`, core(family, extras)],
    [`entries/families/${family}.ts`, entry(family, protocols)],
  ]);
  return {
    "boundary/protocols.ts": protocolList(all),
    "testing/fakes.ts": fakes(all),
    "entries/families/split.ts": split(all),
    "entries/families/extras.ts": extrasOf(all),
    "entries/families/workers.ts": workers(all),
    "entries/families/types.ts": typesOf(all),
    ...Object.fromEntries(own),
  };
}

function protocolList(all) {
  const rows = all.flatMap(([family, { protocols }]) => protocols.map((name) => `  "${name}": "${family}",\n`));
  const sockets = all.filter(([, { socket }]) => socket).map(([family]) => `"${family}"`);
  return `${HEAD}
/** Which core speaks a protocol, in the order of the protocols' numbers in the cores. A core has the name of its family. */
export const CORES = {
${rows.join("")}} as const;

/** A protocol that a server speaks. */
export type Protocol = keyof typeof CORES;

/** A family: the protocols of one core. */
export type Family = (typeof CORES)[Protocol];

/** Families that use a \`WebSocket\`. */
export const OVER_SOCKETS: readonly Family[] = [${sockets.join(", ")}];

/** All protocols, in the order of their numbers in the cores. */
export const PROTOCOLS = Object.keys(CORES) as Protocol[];
`;
}

function fakes(all) {
  const imports = all.map(([family], at) => `import { fakes as fakes${at} } from "./protocols/${family}.js";\n`);
  return `${HEAD}import type { Protocol } from "../boundary/protocols.js";
import type { Fake } from "./fake.js";
${imports.join("")}
/** The fake of each protocol. */
export const FAKES: Readonly<Record<Protocol, Fake>> = { ${all.map((_, at) => `...fakes${at}`).join(", ")} };
`;
}

function core(family, extras) {
  const exported = Object.entries(extras).map(([name, place]) => {
    const [file, own] = place.split(" ");
    return `export { ${own} as ${name} } from "../../${file}.js";\n`;
  });
  return `${HEAD}export { packed } from "../../../core/${family}/inline.js";\n${exported.join("")}`;
}

function entry(family, protocols) {
  const [first, ...others] = protocols.map((name) => `\`"${name}"\``);
  const spoken = others.length > 0 ? `The protocols are ${first}, the default, and ${others.join(", ")}.` : `The protocol is ${first}.`;
  return `${HEAD}/**
 * For pages that speak only the protocols of one family, and need its core in the same file. ${spoken} Otherwise it
 * exports what \`turnwire\` does.
 *
 * @module turnwire/${family}
 */
import type { Client } from "../../client/client.js";
import { compiled, connectWith, load } from "../../client/face.js";
import type { ConnectOptions } from "../../client/options.js";
import * as core from "./${family}-core.js";

export * from "../api.js";

const source = () => compiled(core);

/**
 * Connects to a server: checks the options and starts the core. Sends no request to the server yet. ${spoken}
 *
 * Rejects with an \`InputError\` for a wrong option, and with a \`TurnwireError\` (\`wasm_blocked\`, …) if the core cannot
 * start.
 */
export function connect(options: ConnectOptions): Promise<Client> {
  return connectWith({ "${family}": source }, options);
}

/** Starts the core before the first \`connect\`, which otherwise starts it. */
export async function init(): Promise<void> {
  await load(source);
}
`;
}

function split(all) {
  const rows = all.map(([family]) => `  "${family}": async () => compiled(await chunk(import("./${family}-core.js"))),\n`);
  return `${HEAD}import { chunk, compiled } from "../../client/face.js";

/** The ways to all cores. Bundlers make a file of each. */
export const CORES = {
${rows.join("")}};
`;
}

function extrasOf(all) {
  const rows = all.map(([family, { extras = {} }]) => {
    const loaded = Object.entries(extras).map(([name, place]) => {
      const [file, own] = place.split(" ");
      return `${name}: (await import("../../${file}.js")).${own}`;
    });
    return `  "${family}": async () => ({${loaded.join(", ")}}),\n`;
  });
  return `${HEAD}import type { Family } from "../../boundary/protocols.js";
import type { Extras } from "../../client/load.js";

/** What loads the extras of each family. */
export const EXTRAS: Readonly<Record<Family, () => Promise<Extras>>> = {
${rows.join("")}};
`;
}

function workers(all) {
  const imports = all.flatMap(([, { extras = {} }], at) =>
    Object.entries(extras).map(([name, place]) => {
      const [file, own] = place.split(" ");
      return `import { ${own} as ${name}${at} } from "../../${file}.js";\n`;
    }),
  );
  const rows = all.map(([family, { extras = {} }], at) => {
    const own = Object.keys(extras).map((name) => `, ${name}: ${name}${at}`);
    return `  "${family}": () => ({ start${own.join("")} }),\n`;
  });
  return `${HEAD}import { started } from "../../client/face.js";
import core from "./core.wasm";
${imports.join("")}
const start = () => started(core);

/** The core of all families, which the platform has compiled, with the extras of each. */
export const CORES = {
${rows.join("")}};
`;
}

function typesOf(all) {
  const rows = all.flatMap(([, { types }]) => (types ? [`export type * from "../../${types}.js";\n`] : []));
  return `${HEAD}// What users name, and what these files add to the options and topics of all protocols.
${rows.join("")}`;
}
