// The real servers: Pydantic AI, LangGraph, Agno, Microsoft's Agent Framework and ADK, each in a virtual environment of its own,
// and CopilotKit's runtime, all with a scripted model (`servers/script.py`, `copilotkit/model.mjs`).
import { join } from "node:path";
import { freePort, named, pause, run } from "../parts.mjs";

const answer = (content) => ({ respond: JSON.stringify(content) });

const EDITED = { allow: { result: { editedArgs: { path: "b.txt" } } } };

/** The answers to what a tool asks that would delete a.txt, and what the model then says that it got. */
const APPROVALS = {
  granted: { answer: { allow: {} }, got: /deleted a\.txt/ },
  denied: { answer: { deny: "not now" }, got: /not now/ },
  edited: { answer: EDITED, got: /deleted b\.txt/ },
};

const THOUGHT = { word: "think", thought: /^Let me think\. The answer is 42\.$/, text: /^It is 42\.$/ };

/**
 * Each server: its program, the path of its agent, the options of its sessions, what its tool asks, and where its thoughts
 * and the answers to what it asks are not the usual ones; whether two tools that ask can be answered differently.
 */
export const SERVERS = {
  "pydantic-ai": { program: "pydantic_ai_server.py", path: "/agent", asks: "tool.approval_required" },
  "agent-framework": {
    program: "agent_framework_server.py",
    path: "/agent",
    asks: "tool.approval_required",
    // It takes no reason.
    approvals: { denied: { answer: { deny: "not now" }, got: /rejected/ } },
    // If one of two is denied, it asks for that one again, and then demands both answers for ever.
    isMixed: false,
  },
  langgraph: {
    program: "langgraph_server.py",
    path: "/quiet",
    asks: "tool.response_required",
    // Of two interrupts it names one.
    isMixed: false,
    approvals: {
      granted: { answer: answer({ approved: true }), got: /deleted a\.txt/ },
      denied: { answer: answer({ approved: false, note: "not now" }), got: /refused: .*not now/ },
      edited: { answer: answer({ approved: true, path: "b.txt" }), got: /deleted b\.txt/ },
    },
  },
  agno: {
    program: "agno_server.py",
    path: "/agui",
    // It tells no reasoning of a model, only that of its tool `think`.
    thinks: { word: "reason", thought: /Let me think\./, text: /Done\. I got: / },
    // Its tools that ask look like tools of the page.
    options: { answerableTools: ["delete_file", "move_file"] },
    asks: "tool.response_required",
    approvals: {
      granted: { answer: answer({ accepted: true }), got: /deleted a\.txt/ },
      denied: { answer: answer({ accepted: false, note: "not now" }), got: /not now/ },
      // A confirmation takes no arguments; a tool that needs the user's input does.
      edited: { word: "move", answer: answer({ values: { path: "b.txt" } }), got: /moved b\.txt/ },
    },
  },
  copilotkit: {
    path: "/agent/chat/run",
    options: { recovery: "connect" },
    asks: "tool.approval_required",
    // It runs nothing: the answer itself is the result of the call.
    approvals: {
      granted: { answer: { allow: {} }, got: /\{"approved":true\}/ },
      denied: { answer: { deny: "not now" }, got: /"approved":false.*not now/ },
      edited: { answer: EDITED, got: /"approved":true.*"editedArgs":\{"path":"b\.txt"\}/ },
    },
  },
};

/** What makes a server's model think, its thought, and its text. */
export const thoughtOf = (name) => SERVERS[name].thinks ?? THOUGHT;

/** How a server asks before it runs a tool, answered `granted`, `denied` or `edited`. */
export const approvalOf = (name, how) => ({ word: "approve", ...(SERVERS[name].approvals?.[how] ?? APPROVALS[how]) });

/** One of which only `threads.test.mjs` asks something. */
const THREADS = { adk: { program: "adk_server.py" } };

/** Some need half a minute for their imports on a busy machine. */
const START_LIMIT_MS = 90_000;
const QUIET = {
  AGNO_TELEMETRY: "false",
  LANGSMITH_TRACING: "false",
  PYTHONDONTWRITEBYTECODE: "1",
  COPILOTKIT_TELEMETRY_DISABLED: "true",
  DO_NOT_TRACK: "1",
};

/** The folders of the environments, by server. */
const environments = () => process.env.AG_UI_SERVERS || join(import.meta.dirname, "../../../target/xtask/ag-ui");

/** The command of a server. */
function commandOf(name) {
  if (name === "copilotkit") return [process.execPath, join(import.meta.dirname, "copilotkit", "server.mjs")];
  const { program } = SERVERS[name] ?? THREADS[name];
  return [named("", join(environments(), name, "bin", "python3")), join(import.meta.dirname, "servers", program)];
}

/** Starts a server. Returns its address; other agents of it are at other paths. */
export async function startServer(name, onStop) {
  const [program, script] = commandOf(name);
  const port = await freePort();
  const server = run(program, [script], { env: { ...process.env, ...QUIET, PORT: String(port) } });
  onStop(server.stop);
  const url = `http://127.0.0.1:${port}`;
  const isUp = () => fetch(url).then(() => true, () => false);
  for (const until = Date.now() + START_LIMIT_MS; !(await isUp()); await pause(200)) {
    if (Date.now() > until) throw new Error(`${name} did not start:\n${server.errors.slice(-20).join("\n")}`);
  }
  return url;
}
