// The wires over a WebSocket: turn-rpc, whose deltas carry the text so far as parsed Markdown, and Codex app-server. A frame
// is one message.
const NOW = 1_795_257_432;

/** In place of the ids that requests bring, or answers. */
const THREAD = "fedcba9876543210fedcba9876543210";
const TURN = "0123456789abcdef0123456789abcdef";
const WORKSPACE = "ws_000000000000000001";

/** Names a turn in its start, where ids do not matter. */
const named = { threadId: THREAD, thread_id: THREAD, turn_id: TURN };

const own = (frame, { thread, turn }) => frame.replaceAll(THREAD, thread).replaceAll(TURN, turn);

/** What both say: messages begin, grow and end. */
function told(story, { item, delta }) {
  const texts = new Map();
  return story.flatMap(({ step, message, text }) => {
    if (step === "message") {
      texts.set(message, "");
      return [item("started", message, "")];
    }
    if (step === "text") {
      texts.set(message, texts.get(message) + text);
      return [delta(message, text, texts.get(message))];
    }
    if (step === "finish") return [item("completed", message, texts.get(message))];
    throw new Error(`stories over a socket have no ${step} here`);
  });
}

const markdown = (text) => ({ blocks: text === "" ? [] : [{ type: "paragraph", text, marks: [] }] });

export const turnRpc = {
  socket: true,
  own,
  named,

  frames(story) {
    const say = (method, params) => JSON.stringify({ jsonrpc: "2.0", method, params });
    const base = { workspace_id: WORKSPACE, thread_id: THREAD, turn_id: TURN };
    const turn = (status) => ({ id: TURN, status, turn_kind: "conversation", origin: "user" });
    const { turn_id: _, ...place } = base;
    return [
      say("turn/started", { ...place, turn: turn("InProgress") }),
      ...told(story, {
        item: (state, id, text) => say(`item/${state}`, { ...base, item: { type: "agentMessage", id, text, markdown: markdown(text), markdownVersion: 1 } }),
        delta: (item_id, delta, text) => say("item/agent_message/delta", { ...base, item_id, delta, stream: "agent_message", markdown: markdown(text), markdown_version: 1 }),
      }),
      say("turn/completed", { ...place, turn: turn("Completed") }),
    ];
  },

  isLast: (message) => message.includes('"turn/completed"'),

  /** The result of a request; for the start of a turn also the ids under which the frames are to follow. */
  reply({ method, params }) {
    const thread = { workspace_id: WORKSPACE, id: params.thread_id, preview: "", mode: "Chat", model: "mock-1", model_provider: "mock", created_at: NOW, updated_at: NOW, status: "Idle", origin_kind: "user", sidebar_visibility: "visible", turns: [] };
    if (method === "workspace/default") {
      return { result: { workspace: { id: WORKSPACE, name: "Default", is_active: true, is_current: true, created_at: NOW, updated_at: NOW } } };
    }
    if (method === "thread/start" || method === "thread/get") return { result: { thread, sandbox: { mode: "FullAccess" } } };
    if (method === "turn/start") {
      const turn = { id: params.turn_id, status: "InProgress", turn_kind: "conversation", origin: "user" };
      return { result: { turn }, ids: { thread: params.thread_id, turn: params.turn_id } };
    }
    throw new Error(`the server in memory has no ${method}`);
  },
};

let count = 0;

export const codex = {
  socket: true,
  own,
  named,

  frames(story) {
    let at = 0;
    const say = (method, params) => JSON.stringify({ method, params, emittedAtMs: NOW * 1000 + (at += 1) });
    const place = { threadId: THREAD, turnId: TURN };
    const turn = (status) => ({ id: TURN, rootTurnId: TURN, items: [], itemsView: "notLoaded", status, error: null, startedAt: NOW, completedAt: null, durationMs: null });
    return [
      say("turn/started", { threadId: THREAD, turn: turn("inProgress") }),
      ...told(story, {
        item: (state, id, text) => {
          const item = { type: "agentMessage", moderation: null, id, text, phase: null, memoryCitation: null, delivery: null, questions: null, startedAtMs: NOW, completedAtMs: null };
          return say(`item/${state}`, { item, ...place, ...(state === "completed" && { contentTokenCount: null }), [`${state}AtMs`]: NOW });
        },
        delta: (itemId, delta) => say("item/agentMessage/delta", { ...place, itemId, delta }),
      }),
      say("turn/completed", { threadId: THREAD, turn: turn("completed") }),
    ];
  },

  isLast: (message) => message.includes('"turn/completed"'),

  reply({ method, params }) {
    if (method === "initialize") return { result: { userAgent: "mock/0.169.0", codexHome: "/srv", platformFamily: "unix", platformOs: "linux" } };
    if (method === "thread/start") {
      count += 1;
      const id = THREAD.slice(0, -8) + String(count).padStart(8, "0");
      return { result: { thread: { id, sessionId: id, preview: "", ephemeral: false, modelProvider: "mock", model: "mock-model", createdAt: NOW, updatedAt: NOW, status: { type: "idle" }, cwd: "/srv", turns: [] }, model: "mock-model", modelProvider: "mock", cwd: "/srv", approvalPolicy: "never", sandbox: { type: "dangerFullAccess" } } };
    }
    if (method === "turn/start") {
      count += 1;
      const id = TURN.slice(0, -8) + String(count).padStart(8, "0");
      const turn = { id, rootTurnId: id, items: [], itemsView: "notLoaded", status: "inProgress", error: null, startedAt: null, completedAt: null, durationMs: null };
      return { result: { turn }, ids: { thread: params.threadId, turn: id } };
    }
    throw new Error(`the server in memory has no ${method}`);
  },
};
