// Rendering on a server, in each framework: what is shown, and that nothing listens.
import assert from "node:assert/strict";
import { test } from "node:test";
import { serverOf } from "./build.mjs";
import { FRAMEWORKS } from "./frameworks.mjs";
import { makeSource } from "./source.js";

for (const name of Object.keys(FRAMEWORKS)) {
  test(`${name} renders on a server, and does not listen`, async () => {
    const { render } = await import(serverOf(name));
    const [source, other] = [makeSource("one", "said on a server"), makeSource("other", "a sibling")];
    const html = await render({ source, other, readers: 2 });
    assert.equal(html.match(/one: said on a server/g)?.length, 2, html);
    assert.match(html, /a sibling/);
    assert.equal(source.subscriptions + other.subscriptions, 0);
  });
}

test("svelte: a store is subscribed to while a page renders on a server, and not after that", async () => {
  const { render } = await import(serverOf("svelte"));
  const source = makeSource("one", "said on a server");
  assert.match(await render({ source, stored: true }), /one: said on a server/);
  assert.equal(source.listeners, 0);
});
