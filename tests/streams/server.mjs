// A durable-streams server for tests, the reference one from npm: `node server.mjs PORT [DIRECTORY]`. Without a directory it keeps
// streams in memory. It says "ready", and ends when its input does: with the test that has started it.
import { DurableStreamTestServer } from "@durable-streams/server";

// A test does not wait for its log output.
console.log = console.info = () => {};
const [port, dataDir] = process.argv.slice(2);
const server = new DurableStreamTestServer({ port: Number(port), host: "127.0.0.1", dataDir });
await server.start();
process.stdout.write("ready\n");
process.stdin.on("end", () => process.exit());
process.stdin.resume();
