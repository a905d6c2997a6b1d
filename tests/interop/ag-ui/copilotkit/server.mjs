// CopilotKit's runtime with its runner in memory, over an agent that is a script: the first word of the last message says what
// it does. `PORT` is its port.
import { createServer } from "node:http";
import { AbstractAgent } from "@ag-ui/client";
import { CopilotRuntime, createCopilotRuntimeHandler, InMemoryAgentRunner } from "@copilotkit/runtime/v2";
import { createNodeFetchHandler } from "@copilotkit/runtime/v2/node";
import { Observable } from "rxjs";

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function* script({ threadId, runId, messages }) {
  const [word] = messages.at(-1).content.split(" ");
  const messageId = `m-${runId}`;
  yield { type: "RUN_STARTED", threadId, runId };
  if (word === "chunks") {
    yield { type: "REASONING_MESSAGE_CHUNK", messageId: `r-${runId}`, delta: "Let me " };
    yield { type: "REASONING_MESSAGE_CHUNK", delta: "think." };
    yield { type: "TEXT_MESSAGE_CHUNK", messageId, role: "assistant", delta: "Hello " };
    yield { type: "RAW", event: { x: 1 } };
    yield { type: "TEXT_MESSAGE_CHUNK", delta: "there." };
    yield { type: "TOOL_CALL_CHUNK", toolCallId: `c-${runId}`, toolCallName: "look", parentMessageId: messageId, delta: '{"at' };
    yield { type: "TOOL_CALL_CHUNK", delta: '":"x"}' };
  } else {
    yield { type: "STATE_SNAPSHOT", snapshot: { n: 1 } };
    yield { type: "STATE_DELTA", delta: [{ op: "replace", path: "/n", value: 2 }] };
    yield { type: "CUSTOM", name: "progress", value: 1 };
    yield { type: "TEXT_MESSAGE_START", messageId, role: "assistant" };
    for (let number = 0; number < (word === "slow" ? 20 : 4); number += 1) {
      if (word === "slow") await pause(150);
      yield { type: "TEXT_MESSAGE_CONTENT", messageId, delta: `${number} ` };
    }
    yield { type: "TEXT_MESSAGE_END", messageId };
  }
  yield { type: "RUN_FINISHED", threadId, runId };
}

class Scripted extends AbstractAgent {
  clone() {
    return new Scripted({ agentId: this.agentId });
  }

  abortRun() {
    this.isStopped = true;
  }

  run(input) {
    return new Observable((out) => {
      const play = async () => {
        for await (const event of script(input)) {
          if (this.isStopped) break;
          out.next(event);
        }
        out.complete();
      };
      play().catch((error) => out.error(error));
    });
  }
}

const runtime = new CopilotRuntime({ agents: { lab: new Scripted({ agentId: "lab" }) }, runner: new InMemoryAgentRunner() });
const handler = createNodeFetchHandler(createCopilotRuntimeHandler({ runtime, basePath: "/", cors: true }));
createServer(handler).listen(Number(process.env.PORT), "127.0.0.1");
