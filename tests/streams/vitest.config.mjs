// One file of tests, and no look for others. The suite's five seconds for a test are those of a quiet machine.
export default { test: { include: ["suite.test.mjs"], testTimeout: 60_000 } };
