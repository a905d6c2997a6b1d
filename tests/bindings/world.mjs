// The base of the tests: the apps that `build.mjs` has built, a gateway that serves them, and a browser.
import { useWorld } from "../e2e/harness.mjs";
import { DIST } from "./build.mjs";

/** Sets up the world of one test file. */
export const useApps = () => useWorld({ www: DIST });

/** Opens the page of a framework, with `globalThis.bindings` in it. */
export async function openApp(world, name) {
  const page = await world.page(`/${name}/index.html`);
  await page.waitForFunction(() => "bindings" in globalThis);
  return page;
}
