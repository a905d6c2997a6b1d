import { writeFileSync } from "node:fs";
import { connect } from "turnwire";
import { fakeServer } from "turnwire/testing";
import { expect, test } from "vitest";
import { playFake } from "./app/fake.cjs";

const { TEXT, PROTOCOLS, RESULTS } = process.env;

test("each protocol is played", { timeout: 60_000 }, async () => {
  const results = await playFake(connect, fakeServer, TEXT, PROTOCOLS.split(","));
  expect(Object.keys(results)).toEqual(PROTOCOLS.split(","));
  writeFileSync(RESULTS, JSON.stringify(results));
});
