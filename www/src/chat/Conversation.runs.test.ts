// How a conversation handles differences between servers: live answers, discarded questions, titles, and turns that
// need a reader.
import { InputError, StateError, type History, type RequiredAction, type Run, type TurnInputItem } from "turnwire";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { FakeTurn, approval, conversationWith, fakeSession, message, question } from "./fakeSession";

beforeEach(() => {
  vi.stubGlobal("requestAnimationFrame", () => 1);
});

describe("answers while the turn runs", () => {
  async function asking(...actions: RequiredAction[]) {
    const can = { liveAnswers: true };
    const { session, created } = fakeSession([], can);
    const { conversation } = conversationWith(session, null, can);
    await conversation.send(message("go"));
    const [turn] = created;
    if (!turn) throw new Error("no turn");
    turn.change({ turn_id: "t1", required_actions: actions });
    return { conversation, created, turn };
  }
  const allowed = (tool_call_id: string) => ({
    type: "user.tool_approval",
    thread_id: "main",
    tool_call_id,
    approval: { status: "allow" },
  });

  it("go out at once, each by itself", async () => {
    const { conversation, created, turn } = await asking(approval("a"), approval("b"));
    expect(conversation.state()).toMatchObject({
      running: true,
      pending: [{ tool_call_id: "a" }, { tool_call_id: "b" }],
    });
    conversation.answer("b", { kind: "allow" });
    expect(turn.answer.mock.calls).toEqual([[[allowed("b")]]]);
    expect(conversation.answerOf("b")).toEqual({ answer: { kind: "allow" }, sent: true });
    turn.change({ required_actions: [approval("a")] });
    turn.change({ status: "done" });
    conversation.answer("a", { kind: "allow" });
    expect(turn.answer).toHaveBeenCalledTimes(1);
    expect(created[1]?.input).toEqual([allowed("a")]);
  });

  it("are streamed where they take effect, if that is another turn", async () => {
    const { conversation, turn } = await asking(approval("a"));
    const next = new FakeTurn([allowed("a") as TurnInputItem], "t1");
    turn.answer.mockResolvedValueOnce(next);
    conversation.answer("a", { kind: "allow" });
    await vi.waitFor(() => expect(conversation.state().turns).toEqual([turn, next]));
    expect(next.signals).toHaveLength(1);
  });

  it("are kept for the next turn, if this one has paused and waits for more", async () => {
    const { conversation, created, turn } = await asking(approval("a"), approval("b"));
    turn.answer.mockImplementationOnce(async () => {
      turn.change({ status: "done" });
      throw new InputError("invalid_input", "missing: b");
    });
    conversation.answer("a", { kind: "allow" });
    await vi.waitFor(() => expect(conversation.answerOf("a")?.sent).toBe(false));
    expect(created).toHaveLength(1);
    conversation.answer("b", { kind: "allow" });
    expect(created[1]?.input).toEqual([allowed("a"), allowed("b")]);
  });

  it("that the server refuses can be given again", async () => {
    const { conversation, turn } = await asking(approval("a"));
    const refused = new Error("no");
    turn.answer.mockRejectedValueOnce(refused);
    conversation.answer("a", { kind: "allow" });
    await vi.waitFor(() => expect(conversation.state().error).toBe(refused));
    expect(conversation.answerOf("a")?.sent).toBe(false);
  });

  it("are not asked for where they would not be taken", async () => {
    const { session, created } = fakeSession();
    const { conversation } = conversationWith(session);
    await conversation.send(message("go"));
    created[0]?.change({ required_actions: [approval("a")] });
    expect(conversation.state().pending).toEqual([]);
  });
});

describe("a question", () => {
  it("is thrown away by a message that is meant to", async () => {
    const can = { discardPending: true };
    const { session, created } = fakeSession([], can);
    const { conversation } = conversationWith(session, null, can);
    await conversation.send(message("go"));
    created[0]?.change({ status: "done", required_actions: [approval("a")] });
    const createTurn = vi.spyOn(session, "createTurn");
    conversation.discard(message("never mind"));
    expect(createTurn).toHaveBeenCalledWith({ input: message("never mind"), discardPending: true });
    expect(conversation.state()).toMatchObject({ running: true, pending: [] });
  });
});

describe("the title", () => {
  it("is told to servers that begin a session with its first turn, once", async () => {
    const { session, created } = fakeSession([], { rename: true });
    const { conversation } = conversationWith(session, null, { rename: true });
    for (const text of ["hello", "again"]) {
      await conversation.send(message(text));
      const turn = created.at(-1);
      await vi.waitFor(() => expect(turn?.signals).toHaveLength(1));
      turn?.end();
    }
    await vi.waitFor(() => expect(session.rename).toHaveBeenCalledExactlyOnceWith("a title"));
  });
});

describe("leaving a conversation whose turn runs", () => {
  async function left(resume: string) {
    const { session, created } = fakeSession([], { resume });
    const { conversation } = conversationWith(session, null, { resume });
    conversation.open();
    await conversation.send(message("go"));
    const [turn] = created;
    if (!turn) throw new Error("no turn");
    turn.id = "t1";
    turn.change({ turn_id: "t1" });
    conversation.close();
    return { conversation, session, turn };
  }

  it("ends the listening where the turn runs on by itself", async () => {
    const { conversation, turn } = await left("cursor");
    expect(conversation.isBound).toBe(false);
    expect(turn.signals.map((signal) => signal.aborted)).toEqual([true]);
  });

  it("goes on to listen where the turn would be lost, and comes back to it", async () => {
    const { conversation, session, turn } = await left("none");
    expect(conversation).toMatchObject({ isBound: true, isOpen: false });
    const resume = vi.spyOn(session, "resume");
    conversation.open();
    expect(resume).not.toHaveBeenCalled();
    expect(turn.signals.map((signal) => signal.aborted)).toEqual([false]);
    turn.change({ status: "done" });
    expect(conversation.isBound).toBe(false);
    expect(conversation.state()).toMatchObject({ running: false, turns: [turn] });
  });
});

describe("other tabs", () => {
  it("hear of a turn when it has ended, where they could not join it", async () => {
    const { session, created } = fakeSession([], { resume: "none" });
    const { conversation, onTurn } = conversationWith(session, null, { resume: "none" });
    await conversation.send(message("go"));
    const [turn] = created;
    await vi.waitFor(() => expect(turn?.signals).toHaveLength(1));
    turn?.tell("event", { type: "turn.created", sequence_number: 1 });
    expect(onTurn).not.toHaveBeenCalled();
    turn?.end();
    await vi.waitFor(() => expect(onTurn).toHaveBeenCalledExactlyOnceWith("s1"));
  });

  it("do not take in a turn that they could not join", async () => {
    const known = new FakeTurn([message("t1")], null);
    known.id = "t1";
    known.change({ turn_id: "t1", status: "done" });
    const { session } = fakeSession([known], { resume: "none" });
    const { conversation } = conversationWith(session, "s1", { resume: "none" });
    conversation.open();
    await vi.waitFor(() => expect(conversation.state().loading).toBe(false));
    const running = new FakeTurn([message("t2")], "t1");
    running.id = "t2";
    vi.spyOn(session, "listTurns").mockImplementation(() => [running, known].values() as never);
    const resume = vi.spyOn(session, "resume");
    await conversation.catchUp();
    expect(resume).not.toHaveBeenCalled();
    running.change({ status: "done" });
    await conversation.catchUp();
    expect(resume).toHaveBeenCalledTimes(1);
  });
});

describe("tools of the page", () => {
  const clock = (tool_call_id: string): RequiredAction => ({ ...question(tool_call_id), name: "clock" }) as RequiredAction;
  const result = (tool_call_id: string) =>
    ({ type: "user.tool_response", thread_id: "main", tool_call_id, content: "noon" }) as TurnInputItem;

  /** A run whose turns come when the test says so. */
  function scripted(first?: FakeTurn) {
    let next: ((turn: FakeTurn | null) => void) | undefined;
    const asked = vi.fn();
    const iterator = {
      next: async () => {
        asked();
        const turn = await new Promise<FakeTurn | null>((resolve) => (next = resolve));
        return turn ? { done: false, value: turn } : { done: true, value: undefined };
      },
      return: async () => ({ done: true, value: undefined }),
    };
    const run = { turns: first ? [first] : [], [Symbol.asyncIterator]: () => iterator } as unknown as Run;
    return { run, asked, give: (turn: FakeTurn | null) => next?.(turn) };
  }

  async function calling(...actions: RequiredAction[]) {
    const { session } = fakeSession();
    const first = new FakeTurn([message("go")], null);
    const { run, asked, give } = scripted(first);
    const runs = vi.spyOn(session, "run").mockImplementation(() => run);
    const { conversation } = conversationWith(session);
    await conversation.send(message("go"));
    await vi.waitFor(() => expect(first.signals).toHaveLength(1));
    first.id = "t1";
    first.change({ turn_id: "t1", status: "done", required_actions: actions });
    first.end();
    await vi.waitFor(() => expect(asked).toHaveBeenCalled());
    return { conversation, session, runs, first, give };
  }

  it("are given to a session, whose turns then follow by themselves", async () => {
    const { conversation, session, first, give } = await calling(clock("c1"));
    expect(session.tools).toHaveBeenCalledTimes(1);
    expect(conversation.state()).toMatchObject({ running: true, pending: [], halted: false });
    const second = new FakeTurn([result("c1")], "t1");
    give(second);
    await vi.waitFor(() => expect(conversation.state().turns).toEqual([first, second]));
    await vi.waitFor(() => expect(second.signals).toHaveLength(1));
    second.change({ turn_id: "t2", status: "done" });
    second.end();
    expect(conversation.answerOf("c1")).toMatchObject({ sent: true });
    await vi.waitFor(() => expect(conversation.state().running).toBe(false));
    give(null);
    await vi.waitFor(() => expect(conversation.state()).toMatchObject({ running: false, halted: false }));
  });

  it("are not the person's business, whose answers go out with their results", async () => {
    const { conversation, runs, give } = await calling(clock("c1"), approval("a"));
    expect(conversation.state()).toMatchObject({ running: false, pending: [{ tool_call_id: "a" }] });
    give(null);
    const { run } = scripted();
    runs.mockImplementation(() => run);
    conversation.answer("a", { kind: "allow" });
    const input = [{ type: "user.tool_approval", thread_id: "main", tool_call_id: "a", approval: { status: "allow" } }];
    expect(runs).toHaveBeenLastCalledWith(input, expect.anything());
    expect(conversation.state()).toMatchObject({ running: true });
    expect(conversation.answerOf("a")).toMatchObject({ sent: true });
  });

  it("that were stopped wait until the person lets them run", async () => {
    const { conversation, runs, give } = await calling(clock("c1"));
    conversation.stop();
    const [, options] = runs.mock.lastCall ?? [];
    expect(options?.signal?.aborted).toBe(true);
    give(null);
    await vi.waitFor(() => expect(conversation.state()).toMatchObject({ running: false, halted: true }));
    const again = scripted();
    runs.mockImplementation(() => again.run);
    conversation.proceedWithTools();
    expect(conversation.state()).toMatchObject({ running: true, halted: false });
    await vi.waitFor(() => expect(runs).toHaveBeenLastCalledWith(null, expect.anything()));
  });

  it("run again for calls that wait when a conversation is loaded, and for no others", async () => {
    for (const [action, count] of [[clock("c1"), 1], [question("q1"), 0]] as const) {
      const waiting = new FakeTurn([message("go")], null);
      waiting.id = "t1";
      waiting.change({ turn_id: "t1", status: "done", required_actions: [action] });
      const { session } = fakeSession([waiting]);
      const { run } = scripted();
      const runs = vi.spyOn(session, "run").mockImplementation(() => run);
      const { conversation } = conversationWith(session, "s1");
      conversation.open();
      await vi.waitFor(() => expect(conversation.state().loading).toBe(false));
      await new Promise((resolve) => setTimeout(resolve, 5));
      expect(runs).toHaveBeenCalledTimes(count);
      expect(conversation.state()).toMatchObject({ running: count === 1, pending: count === 1 ? [] : [action] });
    }
  });

  it("whose results somebody else has given let the conversation be read anew", async () => {
    const { conversation, session, give } = await calling(clock("c1"));
    const resume = vi.spyOn(session, "resume").mockResolvedValue([] as unknown as History);
    const second = new FakeTurn([result("c1")], "t1");
    give(second);
    await vi.waitFor(() => expect(second.signals).toHaveLength(1));
    second.change({ status: "unstarted", error: new StateError("turn_not_running", "too late") });
    second.end();
    await vi.waitFor(() => expect(resume).toHaveBeenCalled());
    await vi.waitFor(() => expect(conversation.state()).toMatchObject({ loading: false, turns: [] }));
  });

  it("are done without where the agent takes none", async () => {
    const { session } = fakeSession();
    vi.mocked(session.tools).mockImplementation(() => {
      throw new InputError("invalid_option", "it takes none");
    });
    const { conversation } = conversationWith(session);
    await conversation.send(message("go"));
    expect(conversation.pageCalls.has("clock")).toBe(false);
  });
});
