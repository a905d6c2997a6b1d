// One session's talk: plays the script of a turn, stops where a call waits, and goes on with the answers.
import { asText, begun, type Answer, type Ending, type Script, type ScriptTurn, type Step, type Steps, type ToolCall, type ToolStep, type Writer } from "./script.js";

/** Calls that wait, and the script that goes on with their answers. */
interface Waiting {
  readonly steps: Steps;
  readonly calls: readonly ToolCall[];
  /** By the ids of all calls of the message, in their order. Those that wait have none yet. */
  readonly answers: Map<string, Answer>;
}

/** A turn that runs. */
interface Running {
  readonly writer: Writer;
  readonly control: AbortController;
}

/** So many steps without a pause, and the page has its turn: a script without an end must not stop it. */
const BREATH = 256;
/** The platform's own, also when a test replaces it. */
const platformTimeout = setTimeout;

const isTool = (step: Step): step is ToolStep => typeof step === "object" && "tool" in step;

/** The talk of one session. */
export class Conversation {
  readonly #script: () => Script;
  readonly #nextId: (kind: string) => string;
  readonly #delay: number;
  #waiting: Waiting | undefined;
  #running: Running | undefined;
  #messages = 0;

  /** `delay` is the pause before each step, in milliseconds. */
  constructor(script: () => Script, nextId: (kind: string) => string, delay: number) {
    this.#script = script;
    this.#nextId = nextId;
    this.#delay = delay;
  }

  /** The calls that wait for an answer. */
  get waiting(): readonly ToolCall[] {
    return this.#waiting?.calls ?? [];
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Begins a turn with a message of the user. What waited is not wanted any more. */
  begin(turn: Omit<ScriptTurn, "number" | "signal">, writer: Writer): void {
    this.cancel();
    void this.#waiting?.steps.return?.();
    this.#waiting = undefined;
    const control = new AbortController();
    this.#messages += 1;
    const steps = () => begun(this.#script(), { ...turn, number: this.#messages, signal: control.signal });
    void this.#play(steps, [], writer, control);
  }

  /** Takes answers by the calls' ids, and returns the calls that they belong to. */
  take(answers: ReadonlyMap<string, Answer>): ToolCall[] {
    const taken = this.waiting.filter(({ id }) => answers.has(id));
    for (const call of taken) this.#waiting!.answers.set(call.id, answered(call, answers.get(call.id)!));
    return taken;
  }

  /** Whether all calls that waited have their answers. */
  get isAnswered(): boolean {
    return this.waiting.every(({ id }) => this.#waiting!.answers.has(id));
  }

  /** Goes on after the answers, which the writer is told of first. Calls without one were not allowed. */
  goOn(writer: Writer): void {
    const { steps, calls, answers } = this.#waiting!;
    this.#waiting = undefined;
    for (const call of calls) {
      const answer = answers.get(call.id) ?? { allowed: false, reason: null, content: null };
      answers.set(call.id, answer);
      writer.result(call, answer);
    }
    void this.#play(() => steps, [...answers.values()], writer, new AbortController());
  }

  /** Cancels the turn that runs. */
  cancel(): void {
    const running = this.#running;
    this.#running = undefined;
    if (!running) return;
    running.control.abort();
    running.writer.end({ status: "cancelled" });
  }

  async #play(begin: () => Steps, first: readonly Answer[], writer: Writer, control: AbortController): Promise<void> {
    const running: Running = { writer, control };
    this.#running = running;
    const runs = () => this.#running === running;
    try {
      const steps = begin();
      let answers = first;
      for (let count = 1; ; count += 1) {
        await writer.ready?.();
        await pause(this.#delay);
        if (count % BREATH === 0) await new Promise((resolve) => platformTimeout(resolve, 0));
        const { done, value } = await steps.next(answers);
        if (!runs()) return void steps.return?.();
        if (done) return this.#end(writer, { status: "done" });
        const list = (Array.isArray(value) ? value : [value]) as readonly Step[];
        for (const step of list) {
          if (isTool(step)) continue;
          if (typeof step === "string") writer.text(step);
          else if ("text" in step) writer.text(step.text);
          else if ("reasoning" in step) writer.reasoning(step.reasoning);
          else if ("wait" in step) await pause(step.wait);
          else if ("error" in step) throw new Error(step.error);
          else throw new TypeError(`a script has no step ${JSON.stringify(step)}`);
          if (!runs()) return void steps.return?.();
        }
        answers = this.#call(list.filter(isTool), steps, writer);
        if (this.#waiting) return this.#end(writer, { status: "waiting" });
      }
    } catch (error) {
      if (runs()) this.#end(writer, { status: "error", message: error instanceof Error ? error.message : String(error) });
    }
  }

  /** The turn runs no more when its end is seen: the answer to that may come at once. */
  #end(writer: Writer, ending: Ending): void {
    this.#running = undefined;
    writer.end(ending);
  }

  /** Makes the calls of a message, and returns their answers; those that wait stop the script. */
  #call(tools: readonly ToolStep[], steps: Steps, writer: Writer): readonly Answer[] {
    if (tools.length === 0) return [];
    const calls = tools.map((step) => this.#made(step));
    writer.calls(calls);
    const answers = new Map<string, Answer>();
    for (const call of calls) {
      if (call.waitsFor !== "server") continue;
      const answer = { allowed: true, reason: null, content: call.result };
      answers.set(call.id, answer);
      writer.result(call, answer);
    }
    const waiting = calls.filter((call) => call.waitsFor !== "server");
    if (waiting.length > 0) {
      this.#waiting = { steps, calls: waiting, answers };
      writer.ask(waiting);
    }
    return [...answers.values()];
  }

  #made({ tool, arguments: given = {}, result, approval = false }: ToolStep): ToolCall {
    const waitsFor = approval ? "approval" : result === undefined ? "response" : "server";
    return { id: this.#nextId("call"), name: tool, arguments: given, waitsFor, result: result ?? "" };
  }
}

/** The answer to a call: an allowed one has the result of its tool. */
function answered(call: ToolCall, answer: Answer): Answer {
  return call.waitsFor === "approval" && answer.allowed ? { ...answer, content: call.result } : answer;
}

/** What the model reads of a call: its result, or that it was denied. */
export function told({ allowed, reason, content }: Answer): string {
  if (allowed) return asText(content);
  return reason === null ? "The user denied this call" : `The user denied this call: ${reason}`;
}

/** Waits by the timers of the moment, which a test may have replaced. */
async function pause(time: number): Promise<void> {
  if (time > 0) await new Promise((resolve) => setTimeout(resolve, time));
}
