// One session's conversation: plays the script of a turn, stops where a call is pending, and continues with the answers.
import { asText, begun, type Answer, type Ending, type Script, type ScriptTurn, type Step, type SubAgent, type ToolCall, type Voice, type Writer } from "./script.js";
import { messageOf, movesOf, waits, type Moves, type Stage } from "./threads.js";

/** Pending calls, and the script that continues with their answers. */
interface Waiting {
  readonly moves: Moves;
  /** All calls of their messages, in order. */
  readonly all: readonly ToolCall[];
  readonly calls: readonly ToolCall[];
  /** The answers, by the calls' ids. Pending calls have none yet. */
  readonly answers: Map<string, Answer>;
}

/** A running turn. */
interface Running {
  readonly writer: Writer;
  readonly control: AbortController;
}

/** After this many steps without a pause, the page gets a turn: an endless script must not block it. */
const BREATH = 256;
/** The platform's own, even if a test replaces it. */
const platformTimeout = setTimeout;

/** The conversation of one session. */
export class Conversation {
  readonly #script: () => Script;
  readonly #stage: Omit<Stage, "turn">;
  readonly #delay: number;
  #waiting: Waiting | undefined;
  #running: Running | undefined;
  #messages = 0;

  /** `delay` is the pause before each step, in milliseconds. */
  constructor(script: () => Script, stage: Omit<Stage, "turn">, delay: number) {
    this.#script = script;
    this.#stage = stage;
    this.#delay = delay;
  }

  /** The pending calls. */
  get waiting(): readonly ToolCall[] {
    return this.#waiting?.calls ?? [];
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Begins a turn with a message of the user, and drops the pending calls. */
  begin(turn: Omit<ScriptTurn, "number" | "signal">, writer: Writer): void {
    this.cancel();
    void this.#waiting?.moves.return("");
    this.#waiting = undefined;
    const control = new AbortController();
    this.#messages += 1;
    const whole = { ...turn, number: this.#messages, signal: control.signal };
    const moves = () => movesOf(begun(this.#script(), whole), null, { ...this.#stage, turn: whole });
    void this.#play(moves, [], writer, control);
  }

  /** Takes answers by the calls' ids, and returns the calls that they belong to. */
  take(answers: ReadonlyMap<string, Answer>): ToolCall[] {
    const taken = this.waiting.filter(({ id }) => answers.has(id));
    for (const call of taken) this.#waiting!.answers.set(call.id, answered(call, answers.get(call.id)!));
    return taken;
  }

  /** Whether all pending calls have their answers. */
  get isAnswered(): boolean {
    return this.waiting.every(({ id }) => this.#waiting!.answers.has(id));
  }

  /** Continues after the answers, of which the writer is notified first. Calls without an answer are denied. */
  goOn(writer: Writer): void {
    const { moves, all, calls, answers } = this.#waiting!;
    this.#waiting = undefined;
    for (const call of calls) {
      const answer = answers.get(call.id) ?? { allowed: false, reason: null, content: null };
      answers.set(call.id, answer);
      voiceOf(writer, call.by).result(call, answer);
    }
    void this.#play(() => moves, all.map(({ id }) => answers.get(id)!), writer, new AbortController());
  }

  /** Cancels the running turn. */
  cancel(): void {
    const running = this.#running;
    this.#running = undefined;
    if (!running) return;
    running.control.abort();
    running.writer.end({ status: "cancelled" });
  }

  async #play(begin: () => Moves, first: readonly Answer[], writer: Writer, control: AbortController): Promise<void> {
    const running: Running = { writer, control };
    this.#running = running;
    const runs = () => this.#running === running;
    try {
      const moves = begin();
      let answers = first;
      for (let count = 1; ; count += 1) {
        await writer.ready?.();
        await pause(this.#delay);
        if (count % BREATH === 0) await new Promise((resolve) => platformTimeout(resolve, 0));
        const { done, value: move } = await moves.next(answers);
        if (!runs()) return void moves.return("");
        if (done) return this.#end(writer, { status: "done" });
        answers = [];
        if ("begins" in move) writer.voice!(move.begins).begin();
        else if ("ends" in move) writer.voice!(move.ends).end(move.failure);
        else if ("calls" in move) answers = this.#call(move.calls, moves, writer);
        else {
          for (const step of move.steps) {
            await say(step, voiceOf(writer, move.agent), writer);
            if (!runs()) return void moves.return("");
          }
        }
        if (this.#waiting) return this.#end(writer, { status: "waiting" });
      }
    } catch (error) {
      if (runs()) this.#end(writer, { status: "error", message: messageOf(error) });
    }
  }

  /** The turn no longer runs when its end is seen: the next input may come at once. */
  #end(writer: Writer, ending: Ending): void {
    this.#running = undefined;
    writer.end(ending);
  }

  /** Makes the calls of each message, and returns their answers; pending calls stop the script. */
  #call(messages: readonly (readonly ToolCall[])[], moves: Moves, writer: Writer): readonly Answer[] {
    const answers = new Map<string, Answer>();
    for (const calls of messages) {
      const voice = voiceOf(writer, calls[0]!.by);
      voice.calls(calls);
      for (const call of calls) {
        if (waits(call)) continue;
        const answer = { allowed: true, reason: null, content: call.result };
        answers.set(call.id, answer);
        if (call.waitsFor === "server") voice.result(call, answer);
      }
    }
    const waiting = messages.flat().filter(waits);
    if (waiting.length > 0) {
      this.#waiting = { moves, all: messages.flat(), calls: waiting, answers };
      for (const calls of messages) voiceOf(writer, calls[0]!.by).ask(calls.filter(waits));
    }
    return [...answers.values()];
  }
}

/** Plays a step that is not a call. */
async function say(step: Step, voice: Voice, writer: Writer): Promise<void> {
  if (typeof step === "string") voice.text(step);
  else if ("text" in step) voice.text(step.text);
  else if ("reasoning" in step) voice.reasoning(step.reasoning);
  else if ("wait" in step) await pause(step.wait);
  else if ("file" in step) writer.file!(step);
  else throw new TypeError(`a script has no step ${JSON.stringify(step)}`);
}

/** The voice of an agent in the running turn: the main agent, or a sub-agent. */
function voiceOf(writer: Writer, agent: SubAgent | null): Voice {
  return agent ? writer.voice!(agent) : writer;
}

/** The answer to a call: an approved call has the result of its tool. */
function answered(call: ToolCall, answer: Answer): Answer {
  return call.waitsFor === "approval" && answer.allowed ? { ...answer, content: call.result } : answer;
}

/** The text that the model reads for a call: its result, or that it was denied. */
export function told({ allowed, reason, content }: Answer): string {
  if (allowed) return asText(content);
  return reason === null ? "The user denied this call" : `The user denied this call: ${reason}`;
}

/** Waits with the current timers, which a test may have replaced. */
async function pause(time: number): Promise<void> {
  if (time > 0) await new Promise((resolve) => setTimeout(resolve, time));
}
