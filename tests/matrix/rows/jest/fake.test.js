const { writeFileSync } = require("node:fs");
const { connect } = require("turnwire");
const { fakeServer } = require("turnwire/testing");
const { playFake } = require("./app/fake.cjs");

const { TEXT, PROTOCOLS, RESULTS } = process.env;

test("each protocol is played", async () => {
  const results = await playFake(connect, fakeServer, TEXT, PROTOCOLS.split(","));
  expect(Object.keys(results)).toEqual(PROTOCOLS.split(","));
  writeFileSync(RESULTS, JSON.stringify(results));
}, 60_000);
