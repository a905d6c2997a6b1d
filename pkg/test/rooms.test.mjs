// The rooms of the sources: which may import which. A file imports from its own room and from those below it, and no files
// import each other in a circle.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";

/** From the ground up. */
const ROOMS = {
  common: "Errors, checks of options, listeners, stores of texts. It knows nothing else of the package.",
  wire: "Types of what servers send and take, derived from the core's.",
  boundary: "The core: its calls, and what crosses the boundary to it.",
  transport: "Transports to servers, timeouts, retries, and lists over pages.",
  delivery: "From the core's records to events and their listeners.",
  snapshot: "From the core's changes to snapshots.",
  turn: "A turn: its life, its state, and the delivery of its events.",
  tools: "Tools of the page, and the turns that follow from their results.",
  client: "Clients and sessions; and the face, which is all that every page downloads.",
  protocols: "What comes with some cores only. It is built on the face.",
  conversation: "What a page shows of a session, and what a person does with it. It is built on the face; its plan knows nothing of the package but types.",
  testing: "A fake server for users' tests. Of the package it knows only what the protocols are called.",
  bindings: "What users of a framework import: readables as that framework has values. Of the package it knows only their shape.",
  entries: "What users import.",
};

const SOURCES = join(import.meta.dirname, "..", "src");
const IMPORT = /(?:from|import\(|^import|^declare module) ?"(\.[^"]+)\.js"/gm;

/** The room of a source: its first folder. */
const room = (path) => path.split("/")[0];

/** The sources by their paths, each with the sources that it imports. */
function imports() {
  const paths = readdirSync(SOURCES, { recursive: true }).filter((path) => path.endsWith(".ts"));
  return new Map(
    paths.map((path) => {
      const text = readFileSync(join(SOURCES, path), "utf8");
      const imported = [...text.matchAll(IMPORT)].map(([, to]) => normalize(join(dirname(path), `${to}.ts`)));
      return [path, imported.filter((to) => paths.includes(to))];
    }),
  );
}

test("a room imports only from the rooms below it", () => {
  const order = Object.keys(ROOMS);
  const upwards = [...imports()].flatMap(([path, imported]) =>
    imported.filter((to) => order.indexOf(room(to)) > order.indexOf(room(path))).map((to) => `${path} imports ${to}`),
  );
  assert.deepEqual(upwards, []);
  assert.deepEqual([...new Set([...imports().keys()].map(room))].sort(), order.sort(), "each room is named here");
});

test("no files import each other in a circle", () => {
  const graph = imports();
  const done = new Set();
  const visit = (path, way) => {
    assert.ok(!way.includes(path), `a circle: ${[...way.slice(way.indexOf(path)), path].join(" → ")}`);
    if (done.has(path)) return;
    for (const to of graph.get(path)) visit(to, [...way, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
});
