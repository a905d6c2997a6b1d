import { ApiError, ConnectionError, IncompleteError, TurnwireError, type TurnSnapshot } from "turnwire";
import { expect, it } from "vitest";
import { isLive } from "./isLive";
import { explain, explainEnd } from "./words";

const snapshot = (part: Partial<TurnSnapshot>) =>
  ({ turn_id: "t1", state: null, error: null, ...part }) as TurnSnapshot;
const incomplete = new IncompleteError("incomplete", "it broke");

it("a turn that cannot be read on is not started again, but gone on with", () => {
  const refused = snapshot({ status: "running", error: new ApiError("http", "no", { status: 403 }) });
  expect(isLive(refused)).toBe(false);
  expect(explainEnd(refused)).toMatchObject({ remedy: "resume" });
  expect(explainEnd(snapshot({ status: "incomplete", error: incomplete }))).toMatchObject({ remedy: "resume" });
});

it("a turn that was not started can be sent again", () => {
  const unsent = snapshot({ turn_id: null, status: "unstarted", error: new ConnectionError("network", "offline") });
  expect(isLive(unsent)).toBe(false);
  expect(explainEnd(unsent)).toMatchObject({ remedy: "retry" });
});

it("where it is not known whether a turn was started, it is said so, and not sent twice", () => {
  const trouble = explainEnd(snapshot({ turn_id: null, status: "incomplete", error: incomplete }));
  expect(trouble?.title).toMatch(/not known whether the message has arrived/);
  expect(trouble?.remedy).toBe("resume");
});

it("a turn that is under way needs no explanation", () => {
  for (const status of ["unstarted", "starting", "running"] as const) {
    expect(isLive(snapshot({ status }))).toBe(true);
    expect(explainEnd(snapshot({ status }))).toBeNull();
  }
});

it("where an answer that broke is lost, it is said what can be done", () => {
  const broken = snapshot({ status: "incomplete", error: incomplete });
  expect(explainEnd(broken, "none")).toMatchObject({ title: expect.stringMatching(/answer is lost/), remedy: "reload" });
  expect(explainEnd(broken, "history")?.remedy).toBe("resume");
});

it("a turn that was stopped by a limit is done, but not silently", () => {
  const done = (termination: object) =>
    explainEnd(
      snapshot({ status: "done", state: { status: "done", output: null, required_actions: [], termination } as never }),
    );
  const value = { code: "token_budget_exceeded", detail: "max_tokens breached" };
  expect(done({ type: "stopped", value })).toMatchObject({
    title: "The answer reached its length limit.",
    remedy: "none",
  });
  expect(done({ type: "stopped", value: { code: "max_rounds_reached" } })?.title).toMatch(/limit of steps/);
  expect(done({ type: "stopped" })?.title).toBe("The server stopped the agent.");
  expect(done({ type: "max_tokens" })?.title).toBe("The answer reached its length limit.");
  expect(done({ type: "refusal" })?.title).toBe("The model would not answer this.");
  expect(done({ type: "natural_end" })).toBeNull();
  expect(done({ type: "end_turn" })).toBeNull();
  expect(done({ type: "suspended" })).toBeNull();
});

it("the code of an error is told with its words", () => {
  const failed = (message: string, code?: string) =>
    explainEnd(snapshot({ status: "error", state: { status: "error", message, ...(code && { code }) } }));
  expect(failed("502", "LLM_ERROR")).toMatchObject({ detail: "LLM_ERROR: 502", remedy: "retry" });
  expect(failed("Version conflict", "STATE_ERROR")).toMatchObject({ remedy: "reload" });
  expect(failed("no code")).toMatchObject({ detail: "no code" });
});

it("what a server answers to a call is a refusal, also where there are no statuses", () => {
  const refused = (status?: number) => new TurnwireError("rpc" as "http", "no", status ? { status } : {});
  expect(explain(refused())).toMatchObject({ title: "The gateway did not accept this.", detail: "no" });
  expect(explain(refused(404)).title).toMatch(/does not have this/);
  expect(explain(refused(401)).remedy).toBe("settings");
});
