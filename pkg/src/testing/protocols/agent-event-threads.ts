// Sub-agents as tirea and awaken show them: their own words are not streamed, only the progress of the calls.
import { told } from "../conversation.js";
import type { Answer, SubAgent, SubVoice, ToolCall } from "../script.js";

/** What is needed of the run that the sub-agents work for. */
interface Parent {
  readonly id: string;
  readonly thread: { readonly id: string };
  event(type: string, data: object): void;
  /** The main agent's call has its result. */
  settle(call: ToolCall, failure: string | null, data: unknown): void;
}

type Status = "pending" | "running" | "done" | "failed";

/** So many steps are reported of a sub-agent. */
const STEPS = 4;
/** What awaken leaves out. */
const OMITTED = new Set(["loaded", "total", "type", "updated_at_ms"]);

/** The sub-agents of one run. */
export class SubAgents {
  readonly #run: Parent;
  readonly #isTirea: boolean;
  readonly #voices = new Map<string, Worker>();
  /** tirea's reports so far, by their calls. */
  readonly #contents = new Map<string, object>();

  constructor(run: Parent, isTirea: boolean) {
    this.#run = run;
    this.#isTirea = isTirea;
  }

  voice(agent: SubAgent): SubVoice {
    const voice = this.#voices.get(agent.id) ?? new Worker(this, agent);
    this.#voices.set(agent.id, voice);
    return voice;
  }

  /** The id of a sub-agent's own run, or of the run that it works for. */
  runOf(agent: SubAgent | null): string {
    return agent ? `${agent.id}_run` : this.#run.id;
  }

  /** Reports how far a call is. awaken sends a report whole, tirea field by field, each time with those that it knows. */
  report(call: ToolCall, status: Status, done: number, all: number, message: string): void {
    const { id, name, by } = call;
    const run_id = this.runOf(by);
    const fields = {
      call_id: id,
      loaded: done,
      message,
      node_id: `tool_call:${id}`,
      parent_call_id: by?.call.id ?? null,
      parent_node_id: by ? `tool_call:${by.call.id}` : `run:${run_id}`,
      parent_run_id: by && this.runOf(by.call.by),
      progress: done / all,
      run_id,
      schema: "tool-call-progress.v1",
      status,
      thread_id: by?.id ?? this.#run.thread.id,
      tool_name: name,
      total: all,
      type: "tool-call-progress",
      updated_at_ms: Date.now(),
    };
    const tell = (message_id: string, content: object) => this.#run.event("activity_snapshot", { message_id, activity_type: "tool-call-progress", content, replace: true });
    if (!this.#isTirea) return tell(id, Object.fromEntries(Object.entries(fields).filter(([field, value]) => value !== null && !OMITTED.has(field))));
    for (const [field, value] of Object.entries(fields)) {
      const content = { ...this.#contents.get(id), [field]: value };
      this.#contents.set(id, content);
      tell(`tool_call:${id}`, content);
    }
  }

  settle(call: ToolCall, failure: string | null, data: unknown): void {
    this.#run.settle(call, failure, data);
  }
}

/** A sub-agent at work. */
class Worker implements SubVoice {
  readonly #all: SubAgents;
  readonly #agent: SubAgent;
  #words = "";
  #output = "";
  #done = 0;

  constructor(all: SubAgents, agent: SubAgent) {
    this.#all = all;
    this.#agent = agent;
  }

  begin(): void {
    this.#all.report(this.#agent.call, "pending", 0, STEPS, `Starting ${this.#agent.name}`);
  }

  text(piece: string): void {
    this.#words += piece;
  }

  reasoning(): void {}

  calls(calls: readonly ToolCall[]): void {
    for (const call of calls) this.#all.report(call, "running", 0, 1, "Running");
    this.#say();
  }

  /** A result is a text, also that of a tool that failed: the word before it says so. */
  result(call: ToolCall, answer: Answer): void {
    const content = told(answer);
    this.#all.report(call, content.startsWith("Error: ") ? "failed" : "done", 1, 1, content);
  }

  /** No script has such calls here. */
  ask(): void {}

  end(failure: string | null): void {
    const { call, name: agent_id } = this.#agent;
    if (failure === null && this.#words !== "") this.#say();
    this.#all.report(call, failure === null ? "done" : "failed", STEPS, STEPS, failure ?? this.#output);
    // What came of a sub-agent's own call is in its last report.
    if (!call.by) this.#all.settle(call, failure, { agent_id, output: this.#output, run_id: this.#all.runOf(this.#agent), status: "completed" });
  }

  /** A message is whole. */
  #say(): void {
    this.#output = this.#words;
    this.#words = "";
    this.#done = Math.min(this.#done + 1, STEPS - 1);
    this.#all.report(this.#agent.call, "running", this.#done, STEPS, this.#output);
  }
}
