// What the tests stand on: the apps, which `build.mjs` has built, a gateway that serves them, and a browser.
import { useWorld } from "../e2e/harness.mjs";
import { DIST } from "./build.mjs";

/** Registers the world of one file of tests. */
export const useApps = () => useWorld({ www: DIST });

/** Opens the page of a framework, with `globalThis.bindings` in it. */
export async function openApp(world, name) {
  const page = await world.page(`/${name}/index.html`);
  await page.waitForFunction(() => "bindings" in globalThis);
  return page;
}
