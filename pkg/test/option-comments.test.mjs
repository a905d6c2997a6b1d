// The comments of options, as editors show them: each optional one says what its default is, and each number its unit.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const TYPES = join(import.meta.dirname, "..", "dist", "types");

/** Interfaces of options: by their name, and those that they extend. */
const NAMED = /(?:Options|Limits)$|^(?:Clocks|AgentSettings|ToolDefinition|ToolStep)$/;
/** Types for the core, or for the fake server's own use, which users never see. */
const OWN = ["FetchOptions", "ManagedOptions", "PageOptions"];
/** The units of numbers. */
const UNIT = /\b(?:milliseconds|bytes|attempts|turns|items|events|conversations)\b/;

/** The options that a declaration has: `[{ of, name, type, isOptional, comment }]`, the comment with the interface's before it. */
function optionsOf(text) {
  const found = [];
  for (const [, comment = "", name, body] of text.matchAll(/(?:\/\*\*((?:(?!\*\/)[^])*)\*\/\n)?(?:export )?(?:declare )?interface (\w+)[^{]*\{\n([^]*?)^\}/gm)) {
    if (!NAMED.test(name) || OWN.includes(name)) continue;
    for (const [, own = "", member, mark, type] of body.matchAll(/^ {4}(?:\/\*\*((?:(?!\*\/)[^])*)\*\/\n {4})?(?:readonly )?(\w+)(\??): ([^]*?);$/gm)) {
      found.push({ of: name, name: member, type, isOptional: mark === "?", own, comment: `${comment} ${own}`.replaceAll(/\s*\n\s*\*?/g, " ") });
    }
  }
  return found;
}

/** What an option's comment lacks. */
function lacks({ isOptional, type, own, comment }) {
  if (own === "") return ["a comment"];
  return [...(isOptional && !/\bdefaults?\b/i.test(own) ? ["its default"] : []), ...(/\bnumber\b/.test(type) && !UNIT.test(comment) ? ["its unit"] : [])];
}

const faultsOf = (text) => optionsOf(text).flatMap((one) => lacks(one).map((what) => `${one.of}.${one.name} lacks ${what}`));

const DECLARATIONS = readdirSync(TYPES, { recursive: true }).filter((name) => name.endsWith(".d.cts"));
const texts = DECLARATIONS.map((name) => readFileSync(join(TYPES, name), "utf8"));

test("each option says its default, and each number its unit", () => {
  assert.deepEqual(texts.flatMap(faultsOf), []);
});

test("all interfaces of options are looked at, with all of their members", () => {
  const looked = texts.flatMap(optionsOf);
  const declared = texts.flatMap((text) => [...text.matchAll(/interface (\w+)/g)].map(([, name]) => name));
  const wanted = [...new Set(declared)].filter((name) => NAMED.test(name) && !OWN.includes(name));
  assert.deepEqual([...new Set(looked.map(({ of }) => of))].sort(), wanted.sort());
  for (const [of, name] of [["ConnectOptions", "baseUrl"], ["Clocks", "deadline"], ["ReconnectOptions", "maxDelay"], ["ListOptions", "limit"], ["FakeServerOptions", "delay"]]) {
    assert.ok(looked.some((one) => one.of === of && one.name === name), `${of}.${name}`);
  }
});

test("a comment without a default or a unit is found", () => {
  const sample = `/** Options. */
export interface SomeOptions {
    /** How long; 5 by default. */
    delay?: number | undefined;
    /** How long, in milliseconds. */
    pause?: number | undefined;
    /** The name. */
    title?: string;
    bare?: boolean;
    /** The URL. */
    url: string;
}
`;
  assert.deepEqual(faultsOf(sample), ["SomeOptions.delay lacks its unit", "SomeOptions.pause lacks its default", "SomeOptions.title lacks its default", "SomeOptions.bare lacks a comment"]);
});
