// Options and inputs that are wrong: named at once, before anything is sent.
import assert from "node:assert/strict";
import { test } from "node:test";
import { connect, InputError } from "../dist/index.js";
import { failure } from "./support/collect.mjs";
import { serve, serveSession } from "./support/server.mjs";

const URL_OF = "http://127.0.0.1:9/acme";

const WRONG = {
  "nothing": [undefined, /object/],
  "null": [null, /object/],
  "a URL alone": [URL_OF, /object/],
  "no base URL": [{}, /baseUrl/],
  "a base URL that is no text": [{ baseUrl: 5 }, /baseUrl/],
  "a misspelt name": [{ baseURL: URL_OF }, /baseURL/],
  "a misspelt name of a function": [{ baseUrl: URL_OF, getToken: () => "k" }, /getToken/],
  "an unknown protocol": [{ baseUrl: URL_OF, protocol: "openai" }, /protocol/],
  "a protocol that is no text": [{ baseUrl: URL_OF, protocol: 5 }, /protocol/],
  "a token that is no text": [{ baseUrl: URL_OF, token: 5 }, /token/],
  "a token in an object": [{ baseUrl: URL_OF, token: { value: "k" } }, /token/],
  "a word whether the token goes into the address": [{ baseUrl: URL_OF, protocol: "turn-rpc", tokenInQuery: "yes" }, /tokenInQuery/],
  "a token in the address of other requests": [{ baseUrl: URL_OF, token: "k", tokenInQuery: true }, /tokenInQuery/],
  "headers that are text": [{ baseUrl: URL_OF, headers: "x: y" }, /headers/],
  "headers that are no texts": [{ baseUrl: URL_OF, headers: { "x-n": 5 } }, /headers/],
  "a fetch that is no function": [{ baseUrl: URL_OF, fetch: "fetch" }, /fetch/],
  "a limit of 0": [{ baseUrl: URL_OF, maxFrameBytes: 0 }, /maxFrameBytes/],
  "a limit below 0": [{ baseUrl: URL_OF, maxFrameBytes: -1 }, /maxFrameBytes/],
  "a limit that is not whole": [{ baseUrl: URL_OF, maxFrameBytes: 1.5 }, /maxFrameBytes/],
  "a limit that is no number": [{ baseUrl: URL_OF, maxFrameBytes: "8MB" }, /maxFrameBytes/],
  "a limit without end": [{ baseUrl: URL_OF, maxFrameBytes: Infinity }, /maxFrameBytes/],
  "a limit that is a big integer": [{ baseUrl: URL_OF, maxFrameBytes: 8n }, /maxFrameBytes/],
};

for (const [name, [options, message]] of Object.entries(WRONG)) {
  test(`connect refuses ${name}`, async () => {
    const error = await failure(connect(options));
    assert.ok(error instanceof InputError, String(error));
    assert.equal(error.code, "invalid_option");
    assert.match(error.message, message);
  });
}

for (const baseUrl of ["", "acme", "host:8080/acme", "127.0.0.1:9/acme", "//", "//host", "http://", "https://a b/", "ftp://host/", "javascript:0", "data:,x", "file:///x", `${URL_OF}?x=1`, `${URL_OF}#x`]) {
  test(`connect refuses the base URL ${JSON.stringify(baseUrl)}`, async () => {
    const error = await failure(connect({ baseUrl }));
    assert.ok(error instanceof InputError, String(error));
    assert.equal(error.code, "invalid_url");
  });
}

test("a base URL may end in slashes, and have ports, cases and spaces around it", async () => {
  const forms = {
    "http://host:8080/acme": "http://host:8080/acme",
    "http://host/acme///": "http://host/acme",
    "http://host": "http://host",
    "HTTPS://Host:443/Acme/": "https://host/Acme",
    " http://host/a b ": "http://host/a%20b",
  };
  for (const [given, used] of Object.entries(forms)) assert.equal((await connect({ baseUrl: given })).baseUrl, used);
});

test("null counts as not given", async () => {
  const client = await connect({ baseUrl: URL_OF, protocol: undefined, token: null, tokenInQuery: null, headers: null, fetch: null, maxFrameBytes: undefined });
  assert.deepEqual([client.protocol, client.baseUrl], ["truefoundry", URL_OF]);
});

const APPROVAL = { type: "user.tool_approval", thread_id: "main", tool_call_id: "c1", approval: { status: "allow" } };
const RESPONSE = { type: "user.tool_response", thread_id: "main", tool_call_id: "c2", content: "x" };
const TEXT = { type: "user.message", content: "Hello" };
const FILE = { type: "file", name: "a.txt", data: "data:text/plain;base64,YQ==" };
const parts = (...list) => ({ type: "user.message", content: list });
const { type: _type, ...UNTYPED } = TEXT;

const RULES = {
  "an empty text": ["", /input\[0\].*must not be empty/],
  "blank text": [" \n", /input\[0\]/],
  "a number": [5, /input\[0\].*object/],
  "true": [true, /input\[0\].*object/],
  "an item without a type": [UNTYPED, /input\[0\].*type/],
  "an item of another type": [{ type: "assistant.message", content: "x" }, /input\[0\].*type/],
  "texts in a list": [["a"], /input\[0\].*object/],
  "null in a list": [[TEXT, null], /input\[1\].*object/],
  "a message and an answer": [[TEXT, APPROVAL], /input\[1\].*mixed/],
  "an answer and a message": [[RESPONSE, TEXT], /input\[1\].*mixed/],
  "a message without content": [{ type: "user.message" }, /input\[0\].*content/],
  "content that is a number": [{ type: "user.message", content: 5 }, /input\[0\].*content/],
  "no parts": [parts(), /input\[0\].*part/],
  "a part that is a text": [parts("x"), /input\[0\].*part/],
  "a part of another type": [parts({ type: "image", url: "x" }), /input\[0\].*`type` cannot be `image`/],
  "a text part without text": [parts({ type: "text" }), /input\[0\].*text/],
  "a file without a name": [parts({ ...FILE, name: "" }), /input\[0\].*name/],
  "a file that is a URL": [parts({ ...FILE, data: "https://x/y" }), /input\[0\].*data URI/],
  "a file that is not base64": [parts({ ...FILE, data: "data:text/plain,a" }), /input\[0\].*data URI/],
  "an approval without a verdict": [{ ...APPROVAL, approval: undefined }, /input\[0\].*approval/],
  "an approval with another verdict": [{ ...APPROVAL, approval: { status: "maybe" } }, /input\[0\].*allow.*deny/],
  "an approval that is a text": [{ ...APPROVAL, approval: "allow" }, /input\[0\].*approval/],
  "an answer without a thread": [{ ...APPROVAL, thread_id: "" }, /input\[0\].*thread_id/],
  "an answer without a call": [{ ...RESPONSE, tool_call_id: undefined }, /input\[0\].*tool_call_id/],
  "a result without content": [{ ...RESPONSE, content: "" }, /input\[0\].*content/],
  "a result that is no text": [{ ...RESPONSE, content: { a: 1 } }, /input\[0\].*content/],
  "a message with a field too many": [{ ...TEXT, mood: "good" }, /input\[0\].*`user\.message` takes no `mood`: it takes type, content/],
  "remember beside the verdict": [{ ...APPROVAL, remember: true }, /`user\.tool_approval` takes no `remember`.*approval/],
  "remember, which this protocol does not take": [{ ...APPROVAL, approval: { status: "allow", remember: true } }, /takes no `remember`: it takes status/],
  "a reason to allow": [{ ...APPROVAL, approval: { status: "allow", reason: "fine" } }, /`allow` takes no `reason`/],
  "a denial that cancels": [{ ...APPROVAL, approval: { status: "deny", cancel: true } }, /`deny` takes no `cancel`: it takes status, reason/],
  "a misspelt call": [[RESPONSE, { ...APPROVAL, tool_call_id: undefined, tool_callid: "c1" }], /input\[1\].*takes no `tool_callid`: it takes type, thread_id, tool_call_id, approval/],
  "a text part with a field too many": [parts({ type: "text", text: "a", cache: true }), /`text` takes no `cache`: it takes type, text/],
  "a file with a field too many": [parts({ ...FILE, mime: "text/plain" }), /`file` takes no `mime`/],
  "a file in a file with a field too many": [parts({ type: "file_upload", file: { filename: "a", file_data: FILE.data, size: 1 } }), /`file` takes no `size`: it takes filename, file_data/],
  "the same call twice": [[RESPONSE, { ...RESPONSE, content: "y" }], /input\[1\].*c2.*twice/],
};

for (const [name, [input, message]] of Object.entries(RULES)) {
  test(`createTurn refuses ${name}, and says which item breaks which rule`, async (t) => {
    const { session, server } = await serveSession(t);
    const error = await failure(() => session.createTurn({ input }));
    assert.ok(error instanceof InputError, String(error));
    assert.equal(error.code, "invalid_input");
    assert.match(error.message, message);
    assert.deepEqual(server.asked, []);
  });
}

const ALLOWED = {
  "a text": "Hello",
  "a message": TEXT,
  "several messages": [TEXT, TEXT],
  "text and files": parts({ type: "text", text: "" }, FILE),
  "answers of both kinds": [APPROVAL, RESPONSE],
  "a denial without a reason": { ...APPROVAL, approval: { status: "deny" } },
  "nothing": undefined,
  "null": null,
  "an empty list": [],
  "a required action with its answer": { ...APPROVAL, name: "deploy", arguments: "{}", tool_info: null },
  "a turn's input as it is read": parts({ ...FILE, file: { filename: FILE.name, file_data: FILE.data } }),
};

for (const [name, input] of Object.entries(ALLOWED)) {
  test(`createTurn takes ${name}`, async (t) => {
    const { session } = await serveSession(t);
    const turn = session.createTurn({ input });
    assert.equal(turn.status, "unstarted");
  });
}

test("a file in the reference's spelling is sent in the servers'", async (t) => {
  const { session } = await serveSession(t);
  const file = { filename: "a.txt", file_data: FILE.data };
  const turn = session.createTurn({ input: parts({ type: "file_upload", file }) });
  assert.deepEqual(turn.input, [parts({ type: "file", name: "a.txt", data: FILE.data })]);
});

const circular = {};
circular.self = circular;
const NO_INPUT = {
  "a function": () => "x",
  "a symbol": Symbol("x"),
  "a big integer": 5n,
  "a circle": circular,
};

for (const [name, input] of Object.entries(NO_INPUT)) {
  test(`createTurn refuses what has no JSON: ${name}`, async (t) => {
    const { session } = await serveSession(t);
    const error = await failure(() => session.createTurn({ input }));
    assert.ok(error instanceof InputError, String(error));
  });
}

const TURN_OPTIONS = {
  "a number": 5,
  "null": null,
  "a misspelt name": { inputs: "Hello" },
  "a wire name": { previous_turn_id: "none" },
  "a turn id that is no text": { input: "Hello", previousTurnId: 5 },
};

for (const [name, options] of Object.entries(TURN_OPTIONS)) {
  // A turn without input makes the model run again, which must not happen by mistake.
  test(`createTurn refuses ${name}`, async (t) => {
    const { session } = await serveSession(t);
    const error = await failure(() => session.createTurn(options));
    assert.ok(error instanceof InputError, String(error));
    assert.equal(error.code, "invalid_option");
  });
}

test("calls refuse options that they do not have", async (t) => {
  const server = await serve(t);
  const { agents } = await connect({ baseUrl: server.baseUrl });
  const { session } = await serveSession(t);
  const attempts = [
    agents.createSession("a", { agent: "b" }),
    agents.createSession(undefined),
    agents.createDraftSession(undefined),
    agents.listSessions("a", { pageSize: 3 }).next(),
    agents.listSessions().next(),
    agents.searchSessions({ agent: "x" }).next(),
    agents.downloadSandboxFile("sbx", undefined),
    agents.downloadSandboxFile("", "/f"),
    agents.downloadSandboxFile({ sessionId: "s1", turnId: "t1" }, "/f"),
    session.listTurns({ order: "asc" }).next(),
    session.listEvents({ turn: "t1" }).next(),
    session.getTurn(""),
  ];
  for (const [at, attempt] of attempts.entries()) {
    const error = await failure(attempt);
    assert.ok(error instanceof InputError, `${at}: ${error}`);
    assert.equal(error.code, "invalid_option");
  }
  assert.deepEqual(server.asked, []);
});

