// The dialogs of the built package in headless Chromium and the development gateway over a WebSocket, checked by
// the protocol's schema and its rules of order with a checker in Python.
//
// `cargo xtask interop turn-rpc` installs what it needs, and names the programs by PYTHON, TURNWIRE_GATEWAY and CHROME.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { useWorld } from "../../e2e/harness.mjs";

const CHECKER = join(import.meta.dirname, "../../fixtures/turn-rpc/check-frames.py");
const world = useWorld();
const folder = mkdtempSync(join(tmpdir(), "turnwire-dialogs-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the checker's verdict on a dialog, and its output. */
function judged(name, dialog) {
  const file = join(folder, `${name}.jsonl`);
  writeFileSync(file, dialog.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const { status, stdout, stderr } = spawnSync(process.env.PYTHON, [CHECKER, file], { encoding: "utf8", timeout: 60_000 });
  return { isRight: status === 0, said: stdout + stderr };
}

/** Plays in a page, and returns the messages on its sockets. */
async function recorded(play, options) {
  const dialog = [];
  const page = await world.page("/", (page) => {
    page.on("websocket", (socket) => {
      const note = (dir) => ({ payload }) => dialog.push({ dir, frame: JSON.parse(payload) });
      socket.on("framesent", note("C->S"));
      socket.on("framereceived", note("S->C"));
    });
  });
  const result = await page.evaluate(play, options);
  assert.deepEqual(page.failures, []);
  await page.context().close();
  return { dialog, result };
}

/**
 * Runs in the page: turns of these inputs, or with these options, in a session of this agent. After three pieces of text a
 * turn may be cancelled, or its connection cut.
 */
async function turns({ agent, inputs, sessionOptions, cancelled, cut }) {
  const { connect } = globalThis.turnwire;
  const client = await connect({ baseUrl: `${location.origin}/turn-rpc`, protocol: "turn-rpc", token: "any", tokenInQuery: true });
  const session = await client.agents.createSession(agent, { sessionOptions });
  const ends = [];
  for (const input of inputs) {
    const turn = session.createTurn(typeof input === "string" ? { input } : input);
    let seen = 0;
    for await (const event of turn.stream()) {
      seen += event.type === "model.message.delta" ? 1 : 0;
      if (event.type !== "model.message.delta" || seen !== 3) continue;
      if (cancelled) await turn.cancel();
      if (cut) await fetch(`/_gateway/sessions/${session.id}/cut?how=${cut}`, { method: "POST" });
    }
    ends.push(turn.status);
  }
  const history = await session.history();
  const again = await client.agents.getSession(session.id);
  for await (const turn of again.listTurns()) for await (const _ of turn.listEvents());
  client.close();
  return { ends, count: history.length };
}

const SCRIPTS = ["plain", "reasoning", "tools", "parallel", "subagents", "task", "shell", "edit", "search", "fetch", "download", "compact", "recover", "exhaust", "stuck", "timeout", "give-up", "budget", "error", "length", "unicode", "markdown"];

// Some scripts wait for seconds between their attempts: the two sessions do so at the same time.
describe("dialogs follow the protocol", { concurrency: true }, () => {
  for (const agent of ["Chat", "Agent"]) {
    test(agent, async () => {
      const { dialog, result } = await recorded(turns, { agent, inputs: SCRIPTS });
      assert.equal(result.count, SCRIPTS.length);
      assert.ok(dialog.length > 200, `${dialog.length}`);
      const { isRight, said } = judged(agent, dialog);
      assert.ok(isRight, said);
    });
  }
});

test("a cancelled turn", async () => {
  const { dialog, result } = await recorded(turns, { agent: "Chat", inputs: ["slow"], cancelled: true });
  assert.deepEqual(result.ends, ["cancelled"]);
  const { isRight, said } = judged("cancelled", dialog);
  assert.ok(isRight, said);
});

const CAPABILITIES = [
  { id: "cap_skill", label: "Images", kind: { type: "skill", slug: "imagegen", sourceKind: "workspace" } },
  { id: "cap_server", kind: { type: "mcpServer", name: "docs", scopeKind: "user" } },
  { id: "cap_tool", kind: { type: "mcpTool", serverName: "browser", rawToolName: "open", scopeKind: "workspace" } },
  { id: "cap_rejected", kind: { type: "skill", slug: "security-blocked-thing", sourceKind: "workspace" } },
];
const URL = "https://example.com/a";
const PARTS = [
  { type: "text", text: "plain", textElements: [{ byte_range: { start: 0, end: 5 }, placeholder: "[1]" }] },
  { type: "file", name: "a.txt", data: "data:text/plain;base64,SGk=" },
  ...["image", "audio", "video"].map((type) => ({ type, url: URL })),
  ...["localImage", "localFile", "localAudio", "localVideo"].map((type) => ({ type, path: "/srv/a" })),
  { type: "artifact", artifactId: "art_1", versionId: "v2" },
  { type: "mention", name: "notes", path: "/srv/notes.md" },
];

test("all inputs of an agent", async () => {
  const options = { model: "m-2", modelProvider: "p-2", mode: "Agent", sandboxPolicy: { mode: "FullAccess" }, capabilities: CAPABILITIES };
  const inputs = [
    { input: [{ type: "user.message", content: PARTS }] },
    { input: "plain", turnOptions: options },
  ];
  const sessionOptions = { model: "m-1", modelProvider: "p-1", sandbox: "FullAccess", originKind: "user", sidebarVisibility: "visible", agentNickname: "Ada", agentRole: "writer" };
  const { dialog, result } = await recorded(turns, { agent: "Chat", inputs, sessionOptions });
  assert.deepEqual(result.ends, ["done", "done"]);
  const starts = dialog.filter(({ frame }) => frame.method === "turn/start").map(({ frame }) => frame.params);
  assert.deepEqual(starts[0].input.map(({ type }) => type), PARTS.map(({ type }) => type));
  assert.deepEqual(starts[1].capabilities, CAPABILITIES);
  const rejected = dialog.find(({ frame }) => frame.params?.item?.code === "capability.rejected");
  assert.equal(rejected.frame.params.item.details.rejected[0].reason, "security_blocked");
  const { isRight, said } = judged("inputs", dialog);
  assert.ok(isRight, said);
});

for (const cut of ["reset", "eof"]) {
  test(`connections that break: ${cut}`, async () => {
    const { dialog, result } = await recorded(turns, { agent: "Chat", inputs: ["markdown", "subagents"], cut });
    assert.deepEqual(result.ends, ["done", "done"]);
    assert.ok(dialog.filter(({ frame }) => frame.method === "turn/get").length >= 2, "the fault did not show");
    const { isRight, said } = judged(`breaks-${cut}`, dialog);
    assert.ok(isRight, said);
  });
}

// A checker that finds nothing proves nothing.
const WRONGS = {
  "an id that is too short": (dialog) => (dialog.find(({ dir }) => dir === "C->S").frame.id = "short"),
  "a request without what it must have": (dialog) => delete dialog.find(({ frame }) => frame.method === "turn/start").frame.params.turn_id,
  "an answer to nobody": (dialog) => (dialog.find(({ dir, frame }) => dir === "S->C" && frame.result).frame.id = "a".repeat(21)),
  "an item that is completed twice": (dialog) => {
    const at = dialog.findIndex(({ frame }) => frame.method === "item/completed" && frame.params.item.type !== "reasoning");
    dialog.splice(at, 0, structuredClone(dialog[at]));
  },
  "a second end": (dialog) => dialog.push(structuredClone(dialog.findLast(({ frame }) => frame.method === "turn/completed"))),
  "an end of another status": (dialog) => (dialog.find(({ frame }) => frame.method === "turn/completed").frame.params.turn.status = "Running"),
};

test("the checker finds errors", async () => {
  const { dialog } = await recorded(turns, { agent: "Agent", inputs: ["plain"] });
  assert.ok(judged("right", dialog).isRight);
  for (const [name, break_] of Object.entries(WRONGS)) {
    const wrong = structuredClone(dialog);
    break_(wrong);
    assert.equal(judged("wrong", wrong).isRight, false, name);
  }
});
