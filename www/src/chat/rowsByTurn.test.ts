import type { Row } from "turnwire/conversation";
import { expect, it } from "vitest";
import { rowsByTurn } from "./rowsByTurn";

const row = (key: string, turn: string): Row => ({ key, turn, role: "user" });

it("a turn's rows stay the same array until one comes or goes", () => {
  const [one, two, three] = [row("a", "t1"), row("b", "t1"), row("c", "t2")];
  const before = rowsByTurn([one, two, three]);
  expect([...before]).toEqual([["t1", [one, two]], ["t2", [three]]]);
  const after = rowsByTurn([one, two, three, row("d", "t2")]);
  expect(after.get("t1")).toBe(before.get("t1"));
  expect(after.get("t2")).not.toBe(before.get("t2"));
  expect(rowsByTurn([one]).get("t1")).toEqual([one]);
});
