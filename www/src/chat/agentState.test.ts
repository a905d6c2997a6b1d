import { expect, it } from "vitest";
import { agentStateOf } from "./agentState";

it("shows what the agent keeps, and not what its server does", () => {
  expect(agentStateOf({ visits: 2, __run: { step: 1 } })).toEqual({ visits: 2 });
  const wrapped = { revision: 3, extensions: { "__runtime.run": {}, basket: ["tea"] } };
  expect(agentStateOf(wrapped)).toEqual({ basket: ["tea"] });
  expect(agentStateOf({ extensions: { a: 1 }, visits: 2 })).toEqual({ extensions: { a: 1 }, visits: 2 });
  expect(agentStateOf({ extensions: "none" })).toEqual({ extensions: "none" });
});

it("shows nothing where there is nothing", () => {
  for (const state of [
    null,
    undefined,
    {},
    4,
    "text",
    [],
    { __run: {} },
    { revision: 3, extensions: { "__runtime.run": {} } },
  ]) {
    expect(agentStateOf(state)).toBeNull();
  }
});
