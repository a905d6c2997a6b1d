/**
 * A fake agent server for tests of pages. It loads no core, and no page needs it.
 *
 * @module turnwire/testing
 */
export { fakeServer, FakeServer, type AgentStep, type Answer, type FakeConnection, type FakeRequest, type FakeServerOptions, type FileStep, type Script, type ScriptTurn, type Step, type Steps, type ToolStep } from "../testing/server.js";
