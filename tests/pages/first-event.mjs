// Prints how long each page takes from its navigation to the first event of its turn, in headless Chromium: with an empty
// cache, and with all files in it; from a static server on this machine, without limits and as behind a mobile network.
//   node tests/pages/first-event.mjs [runs]
import { createServer } from "node:http";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { chromium } from "playwright-core";
import { startGateway } from "../e2e/harness.mjs";
import { buildPage, PAGES, pathOf } from "./build.mjs";

const RUNS = Number(process.argv[2] ?? 11);
/** The profiles of Chromium's developer tools: no limits, and "Fast 4G", in bytes a second and milliseconds. */
const NETWORKS = { loopback: undefined, "fast 4G": { downloadThroughput: 1_012_500, uploadThroughput: 168_750, latency: 165 } };

const www = mkdtempSync(join(tmpdir(), "turnwire-first-event-"));
const gateway = await startGateway(www);
const files = new Map();
const server = createServer(({ url }, response) => {
  const path = new URL(url, "http://localhost").pathname;
  if (!files.has(path)) files.set(path, brotliCompressSync(readFileSync(join(www, path))));
  const type = path.endsWith(".js") ? "text/javascript" : "text/html";
  const cache = path.endsWith(".js") ? "max-age=31536000, immutable" : "no-cache";
  response.writeHead(200, { "content-type": type, "content-encoding": "br", "cache-control": cache }).end(files.get(path));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const origin = `http://127.0.0.1:${server.address().port}`;
const browser = await chromium.launch({ executablePath: process.env.CHROME ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
try {
  for (const [family, way] of PAGES) await buildPage(www, family, way, gateway.url);
  console.log("page | network | cold | warm   (median of", RUNS, "runs, ms)");
  for (const [network, conditions] of Object.entries(NETWORKS)) {
    for (const [family, way] of PAGES) {
      const times = { cold: [], warm: [] };
      // The first run warms up the machine.
      for (let run = 0; run <= RUNS; run += 1) {
        const context = await browser.newContext();
        const page = await context.newPage();
        const devtools = await context.newCDPSession(page);
        await devtools.send("Network.enable");
        if (conditions) await devtools.send("Network.emulateNetworkConditions", { offline: false, ...conditions });
        for (const cache of ["cold", "warm"]) {
          await page.goto(`${origin}/${pathOf(family, way)}/index.html`);
          await page.waitForFunction(() => document.title !== "");
          const first = await page.evaluate(() => performance.getEntriesByType("mark")[0].startTime);
          if (run > 0) times[cache].push(first);
        }
        await context.close();
      }
      console.log([`${family} ${way}`, network, median(times.cold), median(times.warm)].join(" | "));
    }
  }
} finally {
  await browser.close();
  server.close();
  await gateway.stop();
  rmSync(www, { recursive: true, force: true });
}

function median(numbers) {
  return Math.round(numbers.toSorted((one, other) => one - other)[numbers.length >> 1]);
}
