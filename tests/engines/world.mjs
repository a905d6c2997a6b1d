// The base of the engines' tests: a gateway that serves the package and this folder's pages.
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startGateway } from "../e2e/harness.mjs";
import { Gateway } from "./gateway.mjs";

const built = join(import.meta.dirname, "..", "..", "pkg", "dist");
const pages = join(import.meta.dirname, "page");
/** The crate's classes for JavaScript, as `wasm-pack build` makes them. */
export const CLASSES = process.env.TURNWIRE_CLASSES ?? join(import.meta.dirname, "..", "..", "target", "xtask", "classes");

/** Starts the gateway; `url` is its address, `gateway` its control. */
export async function startWorld() {
  const site = mkdtempSync(join(tmpdir(), "turnwire-engines-"));
  cpSync(pages, site, { recursive: true });
  cpSync(built, join(site, "dist"), { recursive: true });
  if (existsSync(CLASSES)) cpSync(CLASSES, join(site, "classes"), { recursive: true });
  const { url, stop } = await startGateway(site);
  return {
    url,
    gateway: new Gateway(url),
    async stop() {
      await stop();
      rmSync(site, { recursive: true, force: true });
    },
  };
}
