import type { RequiredAction, Turn, TurnSnapshot } from "turnwire";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { isMark } from "../events/EventLog";
import { FakeTurn, approval, conversationWith, fakeSession, message, question } from "./fakeSession";

beforeEach(() => {
  vi.stubGlobal("requestAnimationFrame", () => 1);
});

describe("sending", () => {
  it("creates the session with the first message only", async () => {
    const { session, created } = fakeSession();
    const { conversation, createSession, onActivity } = conversationWith(session);
    await conversation.send(message("  hello\nthere  "));
    expect(createSession).toHaveBeenCalledWith("bot", expect.objectContaining({ title: "hello there" }));
    expect(onActivity).toHaveBeenCalledWith(session);
    await conversation.send(message("again"));
    expect(createSession).toHaveBeenCalledTimes(1);
    expect(created).toHaveLength(2);
    expect(conversation.state()).toMatchObject({ running: true, opening: null, turns: created });
  });

  it("keeps the message when the session can not be created, so that it can be sent again", async () => {
    const { session, created } = fakeSession();
    const { conversation, createSession } = conversationWith(session);
    const failure = new Error("no");
    createSession.mockRejectedValueOnce(failure);
    await conversation.send(message("hello"));
    expect(conversation.state()).toMatchObject({ error: failure, opening: [message("hello")], turns: [] });
    await conversation.send(message("hello"));
    expect(conversation.state()).toMatchObject({ error: null, opening: null, turns: created });
  });
});

describe("answers", () => {
  async function waiting(...actions: RequiredAction[]) {
    const { session, created } = fakeSession();
    const { conversation } = conversationWith(session);
    await conversation.send(message("go"));
    created[0]?.change({ status: "done", required_actions: actions });
    return { conversation, created };
  }

  it("go out together, once the last one is given", async () => {
    const { conversation, created } = await waiting(approval("a"), approval("b", "sub"), question("c"));
    conversation.answer("b", { kind: "deny", reason: " too late " });
    conversation.answer("c", { kind: "text", content: "blue" });
    expect(created).toHaveLength(1);
    conversation.answer("a", { kind: "allow" });
    expect(created).toHaveLength(2);
    expect(created[1]?.input).toEqual([
      { type: "user.tool_approval", thread_id: "main", tool_call_id: "a", approval: { status: "allow" } },
      {
        type: "user.tool_approval",
        thread_id: "sub",
        tool_call_id: "b",
        approval: { status: "deny", reason: "too late" },
      },
      { type: "user.tool_response", thread_id: "main", tool_call_id: "c", content: "blue" },
    ]);
  });

  it("can be changed until then, and not afterwards", async () => {
    const { conversation, created } = await waiting(approval("a"), approval("b"));
    conversation.answer("a", { kind: "allow" });
    conversation.answer("a", null);
    expect(conversation.answerOf("a")).toBeUndefined();
    conversation.answer("b", { kind: "allow" });
    expect(created).toHaveLength(1);
    conversation.answer("a", { kind: "deny", reason: "" });
    expect(created).toHaveLength(2);
    conversation.answer("a", { kind: "allow" });
    expect(conversation.answerOf("a")).toEqual({ answer: { kind: "deny", reason: "" }, sent: true });
    expect(created).toHaveLength(2);
  });

  it("are not needed for signing in: that goes on with an empty turn", async () => {
    const server = { id: "s", name: "S", mcp_server_name: "S", auth_url: "https://s.example", thread_ids: [] };
    const { conversation, created } = await waiting({ type: "mcp.auth_required", server });
    expect(created).toHaveLength(1);
    conversation.proceed();
    expect(created[1]?.input).toEqual([]);
  });
});

describe("a failed turn", () => {
  it("is replaced by one with the same input, from the same place", async () => {
    const { session, created } = fakeSession();
    const { conversation } = conversationWith(session);
    await conversation.send(message("go"));
    const [failed] = created;
    if (!failed) throw new Error("no turn");
    failed.id = "t1";
    conversation.retry(failed as unknown as Turn);
    expect(created[1]).toMatchObject({ input: [message("go")], previousTurnId: "none" });
    expect(conversation.state().turns).toEqual([created[1]]);
  });

  it("that never started is simply sent again", async () => {
    const { session, created } = fakeSession();
    const { conversation } = conversationWith(session);
    await conversation.send(message("go"));
    conversation.retry(created[0] as unknown as Turn);
    expect(created[1]?.previousTurnId).toBeNull();
  });
});

describe("loading", () => {
  it("knows what was answered before, and results that came in a later turn", async () => {
    const first = new FakeTurn([message("go")], null);
    first.change({ status: "done", required_actions: [approval("a")] });
    const second = new FakeTurn(
      [{ type: "user.tool_approval", thread_id: "main", tool_call_id: "a", approval: { status: "allow" } }],
      "t1",
    );
    const tool_responses = [{ id: "r", tool_call_id: "a", content: "restarted", created_at: null }];
    second.change({ status: "done", threads: [{ id: "main", tool_responses }] as unknown as TurnSnapshot["threads"] });
    second.status = "done";
    const { session } = fakeSession([first, second]);
    const { conversation } = conversationWith(session, "s1");
    expect(conversation.state().loading).toBe(true);
    conversation.open();
    await vi.waitFor(() => expect(conversation.state().loading).toBe(false));
    expect(conversation.answerOf("a")).toEqual({ answer: { kind: "allow" }, sent: true });
    expect(conversation.lateResponseOf("a")).toMatchObject({ content: "restarted" });
    expect(conversation.state()).toMatchObject({ running: false, pending: [] });
  });
});

describe("a connection", () => {
  async function streaming() {
    const { session, created } = fakeSession();
    const { conversation, onTurn } = conversationWith(session);
    await conversation.send(message("go"));
    const [turn] = created;
    if (!turn) throw new Error("no turn");
    return { conversation, turn, onTurn };
  }

  it("that was lost is marked between the events, and counted with its turn", async () => {
    const { conversation, turn } = await streaming();
    turn.tell("event", { type: "turn.created", sequence_number: 1 });
    turn.tell("reconnecting", { attempt: 1, delay: 3, cause: new Error("cut") });
    turn.tell("resumed", { after: 1 });
    turn.tell("event", { type: "turn.done", sequence_number: 2 });
    const rows = conversation.events.rows("all");
    const seen = [0, 1, 2, 3].map((position) => {
      const entry = rows.at(position);
      return entry && isMark(entry) ? entry.mark.topic : entry && "event" in entry && entry.event.type;
    });
    expect(seen).toEqual(["turn.created", "reconnecting", "resumed", "turn.done"]);
    expect(conversation.connectionOf(turn as unknown as Turn).state()).toEqual({ resumes: 1, after: 1, gaps: [] });
    turn.tell("gap", { after: 4, next: 9 });
    expect(conversation.connectionOf(turn as unknown as Turn).state().gaps).toEqual([{ after: 4, next: 9 }]);
  });

  it("is there to be cut once the turn has begun", async () => {
    const { conversation, turn } = await streaming();
    expect(conversation.state()).toMatchObject({ running: true, begun: false });
    turn.change({ turn_id: "t1" });
    expect(conversation.state()).toMatchObject({ running: true, begun: true });
    turn.change({ status: "done" });
    expect(conversation.state()).toMatchObject({ running: false, begun: false });
  });

  it("is announced as lost only when the first try has failed", async () => {
    const { conversation, turn } = await streaming();
    const reconnecting = (attempt: number) => ({ attempt, delay: 3, cause: new Error("cut") as never });
    turn.change({ reconnecting: reconnecting(1) });
    expect(conversation.state()).toMatchObject({ running: true, lost: false });
    turn.change({ reconnecting: reconnecting(2) });
    expect(conversation.state()).toMatchObject({ running: true, lost: true });
    turn.change({ reconnecting: null });
    expect(conversation.state()).toMatchObject({ running: true, lost: false });
    // Waiting does not mean that the connection is lost.
    turn.change({ waiting: { delay: 2000, for: "turn" } });
    expect(conversation.state()).toMatchObject({ running: true, lost: false });
  });

  it("that the server refuses to give back ends the running, though the turn may run on there", async () => {
    const { conversation, turn } = await streaming();
    turn.change({ turn_id: "t1", error: new Error("forbidden") as never });
    expect(conversation.state().running).toBe(false);
  });

  it("is left with the conversation, but not before what was sent has arrived", async () => {
    const { conversation, turn, onTurn } = await streaming();
    conversation.close();
    expect(turn.signals.map((signal) => signal.aborted)).toEqual([false]);
    turn.id = "t1";
    turn.tell("event", { type: "turn.created", sequence_number: 1 });
    expect(turn.signals.map((signal) => signal.aborted)).toEqual([true]);
    expect(onTurn).toHaveBeenCalledExactlyOnceWith("s1");
  });
});

describe("catching up", () => {
  async function loaded(...turns: FakeTurn[]) {
    const { session } = fakeSession(turns);
    const { conversation } = conversationWith(session, "s1");
    conversation.open();
    await vi.waitFor(() => expect(conversation.state().loading).toBe(false));
    return { conversation, session };
  }
  function ended(id: string) {
    const turn = new FakeTurn([message(id)], null);
    turn.id = id;
    turn.change({ turn_id: id, status: "done" });
    return turn;
  }

  it("changes nothing when the newest turn is known", async () => {
    const { conversation, session } = await loaded(ended("t1"));
    const before = conversation.state();
    const resume = vi.spyOn(session, "resume");
    await conversation.catchUp();
    expect(resume).not.toHaveBeenCalled();
    expect(conversation.state()).toBe(before);
  });

  it("takes in a turn from elsewhere, and keeps those that are known", async () => {
    const known = ended("t1");
    const { conversation, session } = await loaded(known);
    const fresh = [ended("t1"), new FakeTurn([message("more")], "t1")];
    vi.spyOn(session, "listTurns").mockImplementation(() => fresh.toReversed().values() as never);
    vi.spyOn(session, "resume").mockImplementation(async () => fresh as never);
    await conversation.catchUp();
    const { turns, running, loading } = conversation.state();
    expect(turns).toEqual([known, fresh[1]]);
    expect(turns[0]).toBe(known);
    expect({ running, loading }).toEqual({ running: true, loading: false });
  });

  it("draws a turn again whose calls were answered elsewhere", async () => {
    const waiting = ended("t1");
    waiting.change({ required_actions: [approval("a")] });
    const { conversation, session } = await loaded(waiting);
    const fresh = [ended("t1"), ended("t2")];
    vi.spyOn(session, "listTurns").mockImplementation(() => fresh.toReversed().values() as never);
    vi.spyOn(session, "resume").mockImplementation(async () => fresh as never);
    await conversation.catchUp();
    expect(conversation.state()).toMatchObject({ turns: fresh, pending: [] });
    expect(conversation.state().turns[0]).toBe(fresh[0]);
  });

  it("keeps a message that could not be sent", async () => {
    const unsent = new FakeTurn([message("mine")], null);
    const { conversation, session } = await loaded(ended("t1"));
    vi.spyOn(session, "createTurn").mockReturnValue(unsent as unknown as Turn);
    await conversation.send(message("mine"));
    unsent.change({ status: "unstarted", error: new Error("offline") as never });
    const listTurns = vi.spyOn(session, "listTurns");
    await conversation.catchUp();
    expect(listTurns).not.toHaveBeenCalled();
    expect(conversation.state()).toMatchObject({ running: false });
    expect(conversation.state().turns.at(-1)).toBe(unsent);
  });

  it("gives way to what is sent from here meanwhile", async () => {
    const { conversation, session } = await loaded(ended("t1"));
    const fresh = [ended("t1"), ended("t2")];
    vi.spyOn(session, "listTurns").mockImplementation(() => fresh.toReversed().values() as never);
    let signal: AbortSignal | undefined;
    vi.spyOn(session, "resume").mockImplementation(async (options) => {
      signal = options?.signal;
      await conversation.send(message("mine"));
      return fresh as never;
    });
    await conversation.catchUp();
    expect(conversation.state().turns.map((turn) => turn.id)).toEqual(["t1", null]);
    expect(signal?.aborted).toBe(true);
  });
});

describe("stopping", () => {
  it("waits until the server has named the turn, and asks once", async () => {
    const { session, created } = fakeSession();
    const { conversation } = conversationWith(session);
    await conversation.send(message("go"));
    const [turn] = created;
    if (!turn) throw new Error("no turn");
    conversation.stop();
    expect(turn.cancelled).toBe(0);
    turn.id = "t1";
    turn.change({ turn_id: "t1" });
    turn.change({ last_sequence_number: 2 });
    expect(turn.cancelled).toBe(1);
    conversation.stop();
    expect(turn.cancelled).toBe(2);
  });

  it("does nothing when nothing runs", async () => {
    const { session, created } = fakeSession();
    const { conversation } = conversationWith(session);
    conversation.stop();
    await conversation.send(message("go"));
    created[0]?.change({ status: "done" });
    conversation.stop();
    expect(created[0]?.cancelled).toBe(0);
  });
});
