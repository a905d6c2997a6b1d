// The public suite of the protocol "durable streams", held against the server at STREAMS_URL.
import { runConformanceTests } from "@durable-streams/server-conformance-tests";

runConformanceTests({ baseUrl: process.env.STREAMS_URL, longPollTimeoutMs: 1_000 });
