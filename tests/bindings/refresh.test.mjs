// A component is edited while an answer streams, in the development servers of Vite and of Next.js: the conversation, its
// stream, its draft and the component's own state stay.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import react from "@vitejs/plugin-react";
import { createServer } from "vite";
import { IS_QUICK } from "../rows.mjs";
import { DIST } from "./build.mjs";
import { useApps } from "./world.mjs";

const NEXT = join(import.meta.dirname, "..", "matrix", "rows", "next");

/** What both pages have: the conversation, and the component as it is saved at different times. */
const chat = (gateway) => `import { connect } from "turnwire";
import { Conversations } from "turnwire/conversation";
export const chat = new Conversations({ client: connect({ baseUrl: "${gateway}/demo", headers: { "x-turnwire-delay-ms": "5" } }), agentName: "support-bot" }).create();
globalThis.chat = chat;
`;
const view = (title) => `"use client";
import { useState } from "react";
import { useConversation, useDraft, useMessage, useRows } from "turnwire/react";
import { chat } from "./chat.js";
export function View() {
  const [count, setCount] = useState(0);
  useConversation(chat);
  return <main><h1>${title}</h1><button onClick={() => setCount(count + 1)}>{count}</button><i>{useDraft(chat).text}</i>{useRows(chat).map(({ key }) => <Row key={key} id={key} />)}</main>;
}
const Row = ({ id }) => <article>{useMessage(chat, id)?.text}</article>;
`;

/** Writes the files of a page into a new folder, the component in `view` as it is first. */
function write(folder, place, files) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, place), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  writeFileSync(join(folder, place, "chat.js"), chat(world.url));
  const save = (title) => writeFileSync(join(folder, place, "view.jsx"), view(title));
  save("Before");
  return save;
}

const world = useApps();

/** The development servers: each returns its address, a function that saves the component, and one that ends the server. */
const SERVERS = {
  async Vite() {
    const folder = join(DIST, "refresh");
    const save = write(folder, "", {
      "index.html": '<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>refresh</title><div id="root"></div><script type="module" src="/main.jsx"></script></html>',
      "main.jsx": 'import { createRoot } from "react-dom/client";\nimport { View } from "./view.jsx";\ncreateRoot(document.querySelector("#root")).render(<View />);\n',
    });
    // A dependency that is found late would be bundled then, and reload the page.
    const optimizeDeps = { include: ["react", "react-dom/client", "react/jsx-dev-runtime"], exclude: ["turnwire"] };
    const server = await createServer({ configFile: false, root: folder, logLevel: "error", plugins: [react()], cacheDir: join(folder, ".vite"), optimizeDeps, server: { host: "127.0.0.1", port: 0 } });
    await server.listen();
    return { url: `http://127.0.0.1:${server.httpServer.address().port}/`, save, close: () => server.close() };
  },
  async "Next.js"() {
    const folder = join(DIST, "refresh-next");
    const save = write(folder, "app", {
      "app/page.jsx": 'import { View } from "./view.jsx";\nexport default function Page() {\n  return <View />;\n}\n',
    });
    for (const file of ["package.json", "package-lock.json", "next.config.mjs", "app/layout.jsx"]) cpSync(join(NEXT, file), join(folder, file));
    // Not `npm ci`: the lock file of the matrix names packages of platforms that a mirror may lack.
    execFileSync("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline"], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
    cpSync(join(import.meta.dirname, "node_modules", "turnwire"), join(folder, "node_modules", "turnwire"), { recursive: true });
    const server = spawn(process.execPath, [join(folder, "node_modules/next/dist/bin/next"), "dev", "--port", "0", "--hostname", "127.0.0.1"], {
      cwd: folder,
      env: { ...process.env, NODE_ENV: "development", NEXT_TELEMETRY_DISABLED: "1" },
      stdio: ["ignore", "pipe", "inherit"],
      // It starts another process, which ends with the group.
      detached: true,
    });
    const ended = new Promise((resolve) => server.once("exit", resolve));
    const close = async () => {
      process.kill(-server.pid);
      await ended;
    };
    const url = await new Promise((resolve, reject) => {
      createInterface({ input: server.stdout }).on("line", (line) => {
        const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
        if (found) resolve(found);
      });
      void ended.then((code) => reject(new Error(`the development server ended with ${code}`)));
    });
    return { url, save, close };
  },
};

for (const [name, start] of Object.entries(SERVERS)) {
  test(`${name}: a component that is edited while an answer streams`, { skip: IS_QUICK && "--all has it" }, async (context) => {
    const server = await start();
    context.after(() => server.close());
    const page = await world.page("/react-19/index.html");
    await page.goto(server.url);
    // The button is there before React is, if a server has rendered it.
    await page.waitForFunction(() => Object.keys(document.querySelector("button") ?? {}).some((key) => key.startsWith("__reactProps")));
    const asked = [];
    page.on("request", (request) => request.url().startsWith(world.url) && asked.push(request));
    let loads = 0;
    page.on("load", () => (loads += 1));
    await page.click("button");
    await page.evaluate(() => {
      globalThis.same = chat;
      chat.send("long 500");
      chat.setDraft({ text: "half a sentence", parts: [] });
    });
    const length = () => page.evaluate(() => document.querySelectorAll("article")[1]?.innerText.length ?? 0);
    while ((await length()) < 50) await page.waitForTimeout(20);
    server.save("After");
    await page.getByRole("heading", { name: "After" }).waitFor();
    const edited = await length();
    assert.equal(await page.evaluate(() => chat.status.get().phase), "answering");
    assert.ok(edited >= 50);
    await page.waitForFunction(() => chat.status.get().phase === "idle");
    await page.waitForFunction(() => document.querySelectorAll("article")[1].textContent === chat.messages.get()[1].text);
    const { isSame, draft, count, rows, text } = await page.evaluate(() => ({
      isSame: globalThis.same === chat,
      draft: document.querySelector("i").innerText,
      count: document.querySelector("button").innerText,
      rows: document.querySelectorAll("article").length,
      text: chat.messages.get()[1].text.length,
    }));
    assert.deepEqual({ isSame, draft, count, rows, loads }, { isSame: true, draft: "half a sentence", count: "1", rows: 2, loads: 0 });
    assert.ok(text > edited);
    const streams = asked.filter((request) => request.method() === "POST" && /turns(\/|$)/.test(new URL(request.url()).pathname));
    assert.equal(streams.length, 1, "one stream");
    assert.deepEqual(page.failures, []);
    await page.context().close();
  });
}
