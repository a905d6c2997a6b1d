// Unknown names: fields of an input and options of a call, in every protocol. Each is refused by its name before anything
// is sent.
import assert from "node:assert/strict";
import { test } from "node:test";
import { connect, InputError } from "../dist/index.js";
import { serveSession as serveAap } from "./support/aap.mjs";
import { serveRuns } from "./support/ag-ui.mjs";
import { begin, complete, finish, frames, say, serveAgent, START, step } from "./support/agent-event.mjs";
import { collect, eventually, failure } from "./support/collect.mjs";
import { json, LiveStream, serve, serveSession } from "./support/server.mjs";
import { serveRpc } from "./support/turn-rpc.mjs";

/** A client with a session of each protocol. `sent` lists the requests since then. */
const OPEN = {
  truefoundry: (t) => overHttp(serveSession(t)),
  trueforge: (t) => overHttp(sibling(t)),
  tirea: (t) => overHttp(serveAgent(t, "tirea")),
  awaken: (t) => overHttp(serveAgent(t, "awaken")),
  aap: (t) => overHttp(serveAap(t)),
  "ag-ui": async () => {
    const { client, sent } = await serveRuns([]);
    return { client, session: await client.agents.createSession("any"), sent: () => sent };
  },
  "turn-rpc": (t) => overSocket(serveRpc(t), "Chat"),
  codex: (t) => overSocket(serveRpc(t, { initialize: () => ({}), "thread/start": () => ({ thread: { id: "t1" } }) }, { protocol: "codex" }), "codex"),
};

async function sibling(t) {
  const record = { id: "s1", agent: { type: "reference", id: "a", name: "bot" }, created_by: "ada" };
  const server = await serve(t, { "GET /acme/api/v1/sessions/s1": json({ data: record }) });
  const client = await connect({ baseUrl: server.baseUrl, protocol: "trueforge" });
  return { server, client, session: await client.agents.getSession("s1") };
}

async function overHttp(opening) {
  const { server, client, session } = await opening;
  server.requests.length = 0;
  return { client, session, sent: () => server.asked };
}

async function overSocket(opening, agent) {
  const { server, client } = await opening;
  const session = await client.agents.createSession(agent);
  const before = server.requests.length;
  return { client, session, sent: () => server.requests.slice(before).map(({ method }) => method) };
}

const CALL = { thread_id: "main", tool_call_id: "c1" };
const ALLOW = { type: "user.tool_approval", ...CALL, approval: { status: "allow" } };
const RESULT = { type: "user.tool_response", ...CALL, content: "x" };
const parts = (part) => ({ type: "user.message", content: [part] });

/** Items with an unknown field, by that field. */
const ITEMS = {
  mood: { type: "user.message", content: "Hello", mood: "good" },
  remember: { ...ALLOW, remember: true },
  reason: { ...ALLOW, reason: "fine" },
  rember: { ...ALLOW, approval: { status: "allow", rember: true } },
  tool_callid: { ...RESULT, tool_callid: "c1" },
  result: { ...RESULT, result: {} },
};
/** Parts with an unknown field. */
const PARTS = {
  cache: { type: "text", text: "Hello", cache: true },
  mime: { type: "file", name: "a.png", data: "data:image/png;base64,AA==", mime: "image/png" },
  size: { type: "file_upload", file: { filename: "a.png", file_data: "data:image/png;base64,AA==", size: 2 } },
};

for (const [protocol, open] of Object.entries(OPEN)) {
  test(`${protocol}: an unknown field of an item is named`, async (t) => {
    const { session, sent } = await open(t);
    const { steer } = session.capabilities;
    const ways = {
      createTurn: (input) => session.createTurn({ input }),
      run: (input) => session.run(input),
      ...(steer && { steer: (input) => session.createTurn({ input: "Hello" }).steer(input) }),
    };
    for (const [way, give] of Object.entries(ways)) {
      for (const [field, item] of Object.entries(ITEMS)) {
        const error = await failure(() => give([item]));
        assert.ok(error instanceof InputError, `${way}, ${field}: ${error}`);
        assert.equal(error.code, "invalid_input");
        assert.match(error.message, new RegExp(`^input\\[0\\]: \`[a-z._]+\` takes no \`${field}\`: it takes [a-z_]+`), way);
      }
    }
    for (const [field, part] of Object.entries(PARTS)) {
      // Where parts are of many kinds, they are checked when they are about to be sent.
      const error = await failure(async () => {
        const { error: late } = await collect(session.createTurn({ input: parts(part) }).stream());
        if (late) throw late;
      });
      assert.ok(error instanceof InputError, `${field}: ${error}`);
      assert.equal(error.code, "invalid_input");
      assert.match(error.message, new RegExp(`^input\\[0\\].*\`${field}\`: it takes `));
    }
    assert.deepEqual(sent(), []);
  });

  test(`${protocol}: an unknown option of a call is named`, async (t) => {
    const { client: { agents }, session, sent } = await open(t);
    const bogus = { bogus: 1 };
    const turn = session.createTurn({ input: "Hello" });
    const attempts = {
      "agents.list": () => agents.list(bogus),
      createSession: () => agents.createSession("bot", bogus),
      getSession: () => agents.getSession("s1", bogus),
      listSessions: () => agents.listSessions("stranger", bogus).next(),
      createDraftSession: () => agents.createDraftSession({}, bogus),
      getDraftSession: () => agents.getDraftSession("d1", bogus),
      listDraftSessions: () => agents.listDraftSessions(bogus).next(),
      listOwnedSessions: () => agents.listOwnedSessions(bogus).next(),
      searchSessions: () => agents.searchSessions(bogus).next(),
      downloadSandboxFile: () => agents.downloadSandboxFile("b1", "/a", bogus),
      createTurn: () => session.createTurn({ input: "Hello", ...bogus }),
      run: () => session.run("Hello", bogus),
      tools: () => session.tools({}, bogus),
      "tools, none": () => session.tools(undefined, bogus),
      "a tool": () => session.tools({ clock: { description: "The time", run: null, ...bogus } }),
      listTurns: () => session.listTurns(bogus).next(),
      getTurn: () => session.getTurn("t1", bogus),
      listEvents: () => session.listEvents(bogus).next(),
      listMessages: () => session.listMessages(bogus).next(),
      history: () => session.history(bogus),
      resume: () => session.resume(bogus),
      "resume, reconnect": () => session.resume({ reconnect: bogus }),
      delete: () => session.delete(bogus),
      "session.cancel": () => session.cancel(bogus),
      interrupt: () => session.interrupt(bogus),
      rename: () => session.rename("x", bogus),
      "session.state": () => session.state(bogus),
      update: () => session.update(bogus),
      refresh: () => session.refresh(bogus),
      stream: () => turn.stream(bogus),
      "stream, reconnect": () => collect(turn.stream({ reconnect: bogus })).then(({ error }) => Promise.reject(error)),
      state: () => turn.state(bogus),
      waitForCompletion: () => turn.waitForCompletion(bogus),
      cancel: () => turn.cancel(bogus),
      answer: () => turn.answer(ALLOW, bogus),
      steer: () => turn.steer("Hello", bogus),
      "turn.listEvents": () => turn.listEvents(bogus).next(),
    };
    const kept = {};
    for (const [name, attempt] of Object.entries(attempts)) {
      const error = await failure(attempt);
      if (error.code === "unsupported") continue;
      if (!(error instanceof InputError) || error.code !== "invalid_option" || !error.message.includes("bogus")) kept[name] = String(error);
    }
    assert.deepEqual(kept, {});
    assert.deepEqual(sent(), []);
  });
}

for (const protocol of ["tirea", "awaken"]) {
  test(`${protocol}: the same goes for an answer to a running turn`, async (t) => {
    const live = new LiveStream();
    const { server, session } = await serveAgent(t, protocol, { [START]: live.reply });
    const turn = session.createTurn({ input: "Hello" });
    const over = collect(turn.stream());
    await live.write(frames(protocol, [begin(), step("m1"), say("Let me see")]));
    await eventually(() => turn.status === "running");
    for (const [field, item] of Object.entries(ITEMS)) {
      const error = await failure(turn.answer(item));
      assert.equal(error.code, "invalid_input", `${field}: ${error}`);
      assert.match(error.message, new RegExp(`takes no \`${field}\``));
    }
    assert.deepEqual(server.asked, [START]);
    await live.write(frames(protocol, [complete(), finish()]));
    live.end();
    assert.equal((await over).error, undefined);
  });
}

for (const protocol of ["trueforge", "tirea", "awaken", "aap", "ag-ui"]) {
  test(`${protocol}: a title of a new session is refused by its name`, async (t) => {
    const { client: { agents }, sent } = await OPEN[protocol](t);
    const error = await failure(agents.createSession("bot", { title: "Plans" }));
    assert.ok(error instanceof InputError, String(error));
    assert.equal(error.code, "invalid_option");
    assert.match(error.message, /`title`/);
    assert.deepEqual(sent(), []);
  });
}

test("an agent's tools are passed as listed, and a misspelt field is refused", async (t) => {
  const { client, session, sent } = await OPEN.aap(t);
  const { name, tools } = session.agent;
  const agentTools = [{ name: "lookup", trsut: true }];
  for (const attempt of [() => client.agents.createSession(name, { agentTools }), () => session.update({ agentTools })]) {
    assert.match((await failure(attempt)).message, /`trsut`.*trust/);
  }
  assert.deepEqual(sent(), []);
  await session.update({ agentTools: tools });
});
