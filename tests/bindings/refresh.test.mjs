// A component is edited while an answer streams, in Vite's development server: the conversation, its stream, its draft and the
// component's own state stay.
import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import react from "@vitejs/plugin-react";
import { createServer } from "vite";
import { IS_QUICK } from "../rows.mjs";
import { DIST } from "./build.mjs";
import { useApps } from "./world.mjs";

const FOLDER = join(DIST, "refresh");

const FILES = {
  "index.html": '<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>refresh</title><div id="root"></div><script type="module" src="/main.jsx"></script></html>',
  "main.jsx": 'import { createRoot } from "react-dom/client";\nimport { View } from "./view.jsx";\ncreateRoot(document.querySelector("#root")).render(<View />);\n',
  "chat.js": `import { connect } from "turnwire";
import { Conversations } from "turnwire/conversation";
const baseUrl = new URLSearchParams(location.search).get("gateway") + "/demo";
export const chat = new Conversations({ client: connect({ baseUrl, headers: { "x-turnwire-delay-ms": "5" } }), agentName: "support-bot" }).create();
globalThis.chat = chat;
`,
};

/** The component, as it is saved at different times. */
const view = (title) => `import { useState } from "react";
import { useConversation, useDraft, useMessage, useRows } from "turnwire/react";
import { chat } from "./chat.js";
export function View() {
  const [count, setCount] = useState(0);
  useConversation(chat);
  return <main><h1>${title}</h1><button onClick={() => setCount(count + 1)}>{count}</button><i>{useDraft(chat).text}</i>{useRows(chat).map(({ key }) => <Row key={key} id={key} />)}</main>;
}
const Row = ({ id }) => <article>{useMessage(chat, id)?.text}</article>;
`;

const world = useApps();
/** Starts the development server on the files as they were written. */
async function startServer() {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  for (const [name, text] of Object.entries({ ...FILES, "view.jsx": view("Before") })) writeFileSync(join(FOLDER, name), text);
  // What is bundled ahead would load the page anew when it is found late.
  const optimizeDeps = { include: ["react", "react-dom/client", "react/jsx-dev-runtime"], exclude: ["turnwire"] };
  const server = await createServer({ configFile: false, root: FOLDER, logLevel: "error", plugins: [react()], cacheDir: join(FOLDER, ".vite"), optimizeDeps, server: { host: "127.0.0.1", port: 0 } });
  return server.listen();
}

test("a component that is edited while an answer streams", { skip: IS_QUICK && "--all has it" }, async (context) => {
  const server = await startServer();
  context.after(() => server.close());
  const page = await world.page("/react-19/index.html");
  await page.goto(`http://127.0.0.1:${server.httpServer.address().port}/?gateway=${encodeURIComponent(world.url)}`);
  await page.waitForSelector("h1");
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
  writeFileSync(join(FOLDER, "view.jsx"), view("After"));
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
