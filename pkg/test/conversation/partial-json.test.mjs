// Arguments of calls as objects that grow: each piece is read once, of any length.
import assert from "node:assert/strict";
import { test } from "node:test";
import { source } from "../support/source.mjs";

const { PartialJson } = await source("conversation/partial-json.ts");

/** The values after each piece. */
function valuesOf(...pieces) {
  const reader = new PartialJson();
  let text = "";
  return pieces.map((piece) => reader.read((text += piece)));
}

test("text grows, and a number or a word is there when it is whole", () => {
  const pieces = ['{"ci', 'ty":"Lis', 'bon","da', 'ys":1', '2,"mild":tr', 'ue,"tags":["a', '","b"', "]}"];
  assert.deepEqual(valuesOf(...pieces), [
    {},
    { city: "Lis" },
    { city: "Lisbon" },
    { city: "Lisbon" },
    { city: "Lisbon", days: 12 },
    { city: "Lisbon", days: 12, mild: true, tags: ["a"] },
    { city: "Lisbon", days: 12, mild: true, tags: ["a", "b"] },
    { city: "Lisbon", days: 12, mild: true, tags: ["a", "b"] },
  ]);
  assert.deepEqual(valuesOf("", " ", "\n["), [undefined, undefined, []]);
});

test("escapes may be cut anywhere", () => {
  const values = valuesOf('["\\', 'n\\u00', "e9\\ud83", 'd\\ude00\\"', '"]');
  assert.deepEqual(values, [[""], ["\n"], ["\né"], ['\né😀"'], ['\né😀"']]);
});

test("values are frozen, and what does not change stays the same object", () => {
  const [before, after] = valuesOf('{"done":{"a":[1]},"text":"x', 'y"');
  assert.notEqual(before, after);
  assert.equal(before.text, "x");
  assert.equal(after.done, before.done);
  for (const value of [before, after, after.done, after.done.a]) assert.ok(Object.isFrozen(value));
  const [first, second] = valuesOf('{"text":"x"', "  ");
  assert.equal(second, first);
});

test("after a mistake nothing more is read, and what was read stays", () => {
  for (const [text, value] of [
    ['{"a":1,]"b":2}', { a: 1 }],
    ['{"a":01,"b":2}', {}],
    ['{"a":nul,"b":2}', {}],
    ['["\\x"', [""]],
    ['{"a" 1}', {}],
    ["[1,]", [1]],
    ["}", undefined],
    ["hello", undefined],
  ]) assert.deepEqual(valuesOf(text), [value], text);
});

test("names like `__proto__` are members like any other", () => {
  const [value] = valuesOf('{"__proto__":{"x":1},"constructor":2}');
  assert.deepEqual(Object.keys(value), ["__proto__", "constructor"]);
  assert.equal({}.x, undefined);
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
});

test("endless nesting is not read, and breaks nothing", () => {
  const reader = new PartialJson();
  let text = "";
  for (let depth = 0; depth < 100; depth += 1) reader.read((text += "[".repeat(1000)));
  let depth = 0;
  for (let value = reader.read(text); value; value = value[0]) depth += 1;
  assert.equal(depth, 128);
});

/** A small generator of numbers from 0 to 1. */
function random(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Any JSON value. */
function anyValue(next, depth = 0) {
  const texts = ["", "a", 'quo"te', "back\\slash", "line\nbreak", "é😀", "\u0000\u2028"];
  const kinds = [() => null, () => next() < 0.5, () => Math.floor(next() * 1e6) - 5e5, () => next() * 10 ** (next() * 40 - 20), () => texts[Math.floor(next() * texts.length)]];
  const nested = [
    () => Array.from({ length: next() * 4 }, () => anyValue(next, depth + 1)),
    () => Object.fromEntries(Array.from({ length: next() * 4 }, () => [texts[Math.floor(next() * texts.length)], anyValue(next, depth + 1)])),
  ];
  const all = depth < 4 ? [...kinds, ...nested, ...nested] : kinds;
  return all[Math.floor(next() * all.length)]();
}

test("any JSON in any pieces is what JSON.parse makes of it, and a value that was handed out never changes", () => {
  for (let seed = 1; seed <= 3000; seed += 1) {
    const next = random(seed);
    const value = { value: anyValue(next) };
    const text = JSON.stringify(value, null, next() < 0.5 ? 0 : 1);
    const reader = new PartialJson();
    const handedOut = [];
    for (let at = 0; at < text.length; ) {
      at += 1 + Math.floor(next() * 5);
      const last = reader.read(text.slice(0, at));
      handedOut.push([last, JSON.stringify(last)]);
    }
    assert.deepEqual(handedOut.at(-1)[0], JSON.parse(text), `seed ${seed}`);
    for (const [one, then] of handedOut) assert.equal(JSON.stringify(one), then, `seed ${seed}`);
  }
});

test("texts that are no JSON break nothing", () => {
  const parts = ['{"a":', "[", "]", "}", ",", '"', "\\", "\\u12", "1", "-", "e5", "true", "nul", " ", ":", '"b":'];
  for (let seed = 1; seed <= 3000; seed += 1) {
    const next = random(seed);
    const reader = new PartialJson();
    let text = "";
    for (let count = 0; count < 20; count += 1) reader.read((text += parts[Math.floor(next() * parts.length)]));
    let parsed;
    try {
      parsed = JSON.parse(text);
    } catch {
      continue;
    }
    if (typeof parsed === "object") assert.deepEqual(reader.read(text), parsed, text);
  }
});

test("a piece is enough: the text before it is not read", () => {
  const reader = new PartialJson();
  const whole = String.raw`{"city":"Lis\"bon\u00e9","days":[1,23,{"on":true}],"note":null}`;
  const other = new PartialJson();
  for (let at = 0; at < whole.length; at += 3) {
    const [text, piece] = [whole.slice(0, at + 3), whole.slice(at, at + 3)];
    // Only the length of the text is right.
    assert.deepEqual(reader.read("x".repeat(text.length), piece), other.read(text));
  }
  assert.deepEqual(reader.read(whole, ""), JSON.parse(whole));
  assert.equal(reader.isBefore(`${whole} `), true);
  assert.equal(reader.isBefore(whole.slice(1)), false);
});

test("16,000 pieces are read once each: no character is read again", () => {
  const reader = new PartialJson();
  const looked = { count: 0 };
  const { charCodeAt } = String.prototype;
  // The reader looks at each character of a string's text by its code.
  String.prototype.charCodeAt = function (at) {
    looked.count += 1;
    return charCodeAt.call(this, at);
  };
  const costs = [];
  try {
    let text = '{"path":"a.txt","content":"';
    reader.read(text);
    for (let piece = 0; piece < 16_000; piece += 1) {
      text += "five\\";
      text += "n";
      looked.count = 0;
      reader.read(text);
      costs.push(looked.count);
    }
  } finally {
    String.prototype.charCodeAt = charCodeAt;
  }
  assert.deepEqual([...new Set(costs)], [5], "the first pieces cost what the last ones do");
  assert.equal(reader.read(reader.text).content.length, 16_000 * 5);
});
