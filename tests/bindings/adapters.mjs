// What the tests of both adapters share: the protocols to play, and reads of a thread.
import assert from "node:assert/strict";
import { ENGINE } from "../e2e/harness.mjs";
import { representative } from "../rows.mjs";

/** The protocols of this run: in a quick one of each kind of answer to a call. */
export const PROTOCOLS = representative(["truefoundry", "trueforge", "tirea", "awaken", "aap", "ag-ui"], (name) => [name === "tirea" || name === "awaken" ? "live" : name === "aap" ? "aap" : "paused"]);
/** Those whose calls are answered: with AG-UI a question belongs to no call. */
export const CALLING = [...new Set([...PROTOCOLS, "ag-ui"])];
/** Those of them whose questions are answered with a text. With AAP a question is allowed or denied. */
export const ASKING = CALLING.filter((name) => name !== "aap");
/** Those whose turns go on without a reader. */
export const RESUMED = PROTOCOLS.filter((name) => ["truefoundry", "trueforge", "awaken"].includes(name));
/** Those with branches in conversations. */
export const BRANCHED = PROTOCOLS.filter((name) => ["truefoundry", "trueforge"].includes(name));

export const box = (page) => page.getByLabel("Message", { exact: true });
export const button = (page, name) => page.getByRole("button", { name, exact: true });
export const roles = (page) => page.$$eval("[data-role]", (rows) => rows.map((row) => row.dataset.role));
export const questions = (page) => page.locator("[data-role=user] .text").allInnerTexts();
export const lastAnswer = (page) => page.locator("[data-role=assistant]").last();

/** Opens the page of an adapter; `about` is its address' query. */
export async function openThread(world, adapter, about = {}) {
  const page = await world.page(`/${adapter}/index.html?${new URLSearchParams(about)}`);
  await box(page).waitFor();
  return page;
}

/** Writes into a field, in place of what is in it. In Firefox, `fill` changes a field that React controls without its knowledge. */
export async function type(field, text) {
  if (ENGINE === "chromium") return field.fill(text);
  await field.selectText();
  await field.pressSequentially(text);
}

export async function write(page, text) {
  await type(box(page), text);
  await box(page).press("Enter");
}

/** Ends a test: the page has reported nothing. */
export async function close(page) {
  assert.deepEqual(page.failures, []);
  await page.context().close();
}
