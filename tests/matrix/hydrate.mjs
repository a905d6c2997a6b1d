// A conversation that a framework's server has rendered: its rows are there before any script, and while the core still loads;
// no request is made before it is shown; then the turn that runs is read to its end, in the same elements.

/** Holds the core back until `release()` is called in the page. Runs in the page, before its scripts. */
function holdCore() {
  const { compile } = WebAssembly;
  const released = new Promise((resolve) => (globalThis.release = resolve));
  WebAssembly.compile = async (bytes) => {
    globalThis.isCompiling = true;
    await released;
    return compile.call(WebAssembly, bytes);
  };
}

/** How long the turn waits before each event, in milliseconds. If it is over before a slow machine has the page, a slower turn is played. */
const PACES = [100, 500];

/** A session with a turn that has ended, and one that runs for a while. */
async function makeSession(gateway, pace) {
  const post = async (path, body, headers) => {
    const response = await fetch(`${gateway}/acme/v1/agents/sessions${path}`, { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return response;
  };
  const { data } = await (await post("", { agent_name: "support-bot" })).json();
  const turn = (previous_turn_id) => ({ input: [{ type: "user.message", content: "plain" }], previous_turn_id, stream: true });
  await (await post(`/${data.id}/turns`, turn("none"))).text();
  const running = await post(`/${data.id}/turns`, turn("auto"), { "x-turnwire-delay-ms": String(pace) });
  await running.body.cancel();
  return data.id;
}

/** Visits the page of a conversation below this address; the result is judged like a row that plays turns. */
export async function visitChat(world, address) {
  for (const pace of PACES) {
    const outcome = await visitAt(pace, world, address);
    if (outcome.results.truefoundry.cuts > 0 || pace === PACES.at(-1)) return outcome;
  }
}

async function visitAt(pace, world, address) {
  const id = await makeSession(world.gateway, pace);
  const url = `${address}/${id}?gateway=${encodeURIComponent(world.gateway)}`;
  const html = await (await fetch(url)).text();
  const failures = html.includes(world.expected.slice(0, 20)) ? [] : ["the server's page has no text of the conversation"];
  const check = (holds, what) => void (holds || failures.push(what));
  const context = await (await world.browser()).newContext();
  try {
    const page = await context.newPage();
    const asked = [];
    page.on("request", (request) => request.url().startsWith(world.gateway) && asked.push(request.url()));
    page.on("pageerror", (error) => failures.push(String(error)));
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && failures.push(message.text()));
    await page.addInitScript(holdCore);
    const response = await page.goto(url);
    check(/'nonce-/.test(response.headers()["content-security-policy"] ?? ""), "the page has no strict policy");
    await page.waitForSelector("body[data-hydrated]");
    await page.waitForFunction(() => globalThis.isCompiling);
    const texts = () => page.locator("article").allInnerTexts();
    const words = (text) => text.replaceAll(/\s+/g, " ").trim();
    const [question, answer] = await texts();
    check(question === "plain" && words(answer) === words(world.expected), "the rows of the first turn are not there while the core loads");
    await page.evaluate(() => document.querySelectorAll("article").forEach((row) => (row.wasHere = true)));
    await page.getByRole("button", { name: "Go on" }).click();
    await page.waitForFunction(() => document.querySelector("main").dataset.phase === "loading");
    check(asked.length === 0, `before the core was there, the page asked for ${asked}`);
    check((await texts())[1] === answer, "the rows went when the conversation was shown");
    await page.evaluate(() => release());
    await page.waitForFunction(() => document.querySelector("main").dataset.phase === "idle", null, { timeout: 60_000 });
    const played = await page.evaluate(() => {
      const rows = [...document.querySelectorAll("article")];
      const { key, turn } = globalThis.chat.rows.get().at(-1);
      const { status } = globalThis.chat.turn(turn).get().snapshot;
      return { status, text: rows.at(-1).textContent, shown: globalThis.chat.message(key).get().text, cuts: globalThis.cuts, rows: rows.map(({ wasHere = false }) => wasHere) };
    });
    check(played.rows.length === 4 && played.rows.slice(0, 2).every(Boolean), `of 4 rows, which were there before: ${played.rows}`);
    return { results: { truefoundry: played }, failures };
  } finally {
    await context.close();
  }
}
