import type { Session, Turn } from "turnwire";
import { expect, it } from "vitest";
import { FakeTurn, approval, message } from "./fakeSession";
import { isNews as isNewsOf, isNewsByNumber, newestOf, withKnown } from "./reading";

function turn(id: string, createdAt: string | null = null, part: object = {}): Turn {
  const fake = new FakeTurn([message(id)], null);
  fake.id = id;
  fake.change({ turn_id: id, status: "done", ...part });
  return Object.assign(fake, { createdAt }) as unknown as Turn;
}

const asked: object[] = [];
function sessionOf(turns: Turn[]): Session {
  const listTurns = (options: object) => (asked.push(options), turns.values());
  return { listTurns } as unknown as Session;
}
const newest = async (turns: Turn[], isFirst = false) => {
  const { signal } = new AbortController();
  return (await newestOf(sessionOf(turns), isFirst, signal))?.turn.id;
};

const isNews = (listed: Turn, shown: readonly Turn[]) => isNewsOf({ turn: listed, count: 1 }, shown);

it("finds the newest turn at whichever end of the list it is", async () => {
  const [old, middle, young] = [turn("a", "2026-01-01"), turn("b", "2026-01-02"), turn("c", "2026-01-03")];
  expect(await newest([old, middle, young])).toBe("c");
  expect(await newest([young, middle, old])).toBe("c");
  expect(await newest([turn("a"), turn("b")])).toBe("b");
  expect(await newest([])).toBeUndefined();
});

it("asks for one turn only, where that is the newest", async () => {
  asked.length = 0;
  expect(await newest([turn("c"), turn("b")], true)).toBe("c");
  expect(asked).toEqual([expect.objectContaining({ limit: 1 })]);
});

it("takes a turn that goes on after an answer for news", () => {
  const waiting = turn("a", null, { required_actions: [approval("c1")] });
  expect(isNews(waiting, [waiting])).toBe(false);
  expect(isNews(turn("b"), [waiting])).toBe(true);
  expect(isNews(turn("a"), [waiting])).toBe(true);
  expect(isNews(turn("a", null, { status: "running" }), [turn("a")])).toBe(true);
});

it("draws a turn again that holds more than when it was streamed", () => {
  const question = turn("a");
  const answered = Object.assign(turn("b"), { input: [message("an answer")] });
  const whole = turn("b");
  expect(withKnown([question, whole], [question, answered])).toEqual([question, whole]);
  expect(withKnown([turn("a")], [question])[0]).toBe(question);
});

it("counts turns that have no names, and looks how the last one stands", () => {
  const waiting = { required_actions: [approval("c1")] };
  const answer = { type: "user.tool_response", thread_id: "main", tool_call_id: "c1", content: "42" } as const;
  const answered = Object.assign(turn("y"), { input: [answer] });
  const isNewsAfter = (count: number, part: object, ...shown: Turn[]) =>
    isNewsByNumber({ turn: turn(`turn-${count}`, null, part), count }, shown);
  expect(isNewsAfter(1, {}, turn("x"))).toBe(false);
  expect(isNewsAfter(2, {}, turn("x"))).toBe(true);
  expect(isNewsAfter(1, waiting, turn("x", null, waiting))).toBe(false);
  expect(isNewsAfter(1, {}, turn("x", null, waiting))).toBe(true);
  expect(isNewsAfter(1, {}, turn("x"), answered)).toBe(false);
  expect(isNewsAfter(1, { status: "running" }, turn("x"))).toBe(false);
  expect(isNewsAfter(1, { status: "running" }, turn("x", null, { status: "error" }))).toBe(false);
});
