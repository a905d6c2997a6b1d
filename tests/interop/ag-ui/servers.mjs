// The real servers: Pydantic AI, LangGraph, Agno, Microsoft's Agent Framework and ADK, each in a virtual environment of its own,
// with a scripted model (`servers/script.py`).
import { join } from "node:path";
import { freePort, named, pause, run } from "../parts.mjs";

/** Each server: its program, and the path of its agent. */
export const SERVERS = {
  "pydantic-ai": { program: "pydantic_ai_server.py", path: "/agent" },
  "agent-framework": { program: "agent_framework_server.py", path: "/agent" },
  langgraph: { program: "langgraph_server.py", path: "/quiet" },
  agno: { program: "agno_server.py", path: "/agui" },
};

/** A server that only `threads.test.mjs` uses. */
const THREADS = { adk: { program: "adk_server.py" } };

/** Some need half a minute for their imports on a busy machine. */
const START_LIMIT_MS = 90_000;
const QUIET = { AGNO_TELEMETRY: "false", LANGSMITH_TRACING: "false", PYTHONDONTWRITEBYTECODE: "1" };

/** The folders of the environments, by server. */
const environments = () => process.env.AG_UI_SERVERS || join(import.meta.dirname, "../../../target/xtask/ag-ui");

/** Starts a server. Returns its address; other agents of it are at other paths. */
export async function startServer(name, onStop) {
  const python = named("", join(environments(), name, "bin", "python3"));
  const port = await freePort();
  const program = join(import.meta.dirname, "servers", (SERVERS[name] ?? THREADS[name]).program);
  const server = run(python, [program], { env: { ...process.env, ...QUIET, PORT: String(port) } });
  onStop(server.stop);
  const url = `http://127.0.0.1:${port}`;
  const isUp = () => fetch(url).then(() => true, () => false);
  for (const until = Date.now() + START_LIMIT_MS; !(await isUp()); await pause(200)) {
    if (Date.now() > until) throw new Error(`${name} did not start:\n${server.errors.slice(-20).join("\n")}`);
  }
  return url;
}
