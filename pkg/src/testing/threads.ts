// The threads of a turn as one sequence of moves: the sub-agents of one message work at the same time, taking turns step by step.
import { begun, demandScript, type AgentStep, type Answer, type Script, type ScriptTurn, type Step, type Steps, type SubAgent, type ToolCall, type ToolStep } from "./script.js";

/** The next move. Each list of `calls` is made in one message; several lists belong to agents that wait together. */
export type Move =
  | { readonly agent: SubAgent | null; readonly steps: readonly Step[] }
  | { readonly calls: readonly (readonly ToolCall[])[] }
  | { readonly begins: SubAgent }
  | { readonly ends: SubAgent; readonly failure: string | null };

/** Moves in order. Calls get their answers, from all lists in one. Returns the agent's last words. */
export type Moves = AsyncGenerator<Move, string, readonly Answer[]>;

/** The shared state of a turn's threads. */
export interface Stage {
  readonly turn: ScriptTurn;
  readonly nextId: (kind: string) => string;
  /** Throws for steps that the protocol cannot show. */
  readonly demand: (script: Script, isInner: boolean) => void;
}

type CallStep = ToolStep | AgentStep;

const isAgent = (step: Step): step is AgentStep => typeof step === "object" && "agent" in step;
const isCall = (step: Step): step is CallStep => typeof step === "object" && ("tool" in step || "agent" in step);
const isError = (step: Step): step is { error: string } => typeof step === "object" && "error" in step;

/** Whether the page must act before a call has a result. */
export const waits = ({ waitsFor }: ToolCall): boolean => waitsFor === "approval" || waitsFor === "response";

/** A thrown value as text. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The parts that a protocol's scripts may have. */
export interface Support {
  /** Sub-agents; `"silent"` ones ask the user nothing. */
  readonly agents?: "silent" | "asking";
  readonly files?: boolean;
}

/** The fields of each kind of step. The first one is its kind. */
const FIELDS = [
  ["tool", "arguments", "result", "approval"],
  ["agent", "input", "title", "script"],
  ["file", "content", "type"],
  ["text"],
  ["reasoning"],
  ["wait"],
  ["error"],
];

/** Throws for a step that no fake has, and for a field that its kind does not have. */
function demandStep(step: unknown): void {
  if (typeof step === "string") return;
  const fields = typeof step === "object" && step ? FIELDS.find(([kind]) => kind! in step) : undefined;
  if (!fields) throw new TypeError(`a script has no step ${JSON.stringify(step)}`);
  const other = Object.keys(step as object).find((name) => !fields.includes(name));
  if (other !== undefined) throw new TypeError(`a step \`${fields[0]}\` has no field \`${other}\`; there are ${fields.join(", ")}`);
}

/** Throws for steps that the fake of a protocol does not have, as far as they are known before playing. */
export function demand(script: Script, support: Support, protocol: string, isInner = false): void {
  demandScript(script);
  if (typeof script !== "object") return;
  // A list of a list is one message.
  for (const step of script.flat()) {
    demandStep(step);
    if (typeof step !== "object") continue;
    if (isAgent(step) ? !support.agents : "file" in step && !support.files) throw new TypeError(`the fake of \`${protocol}\` has no step \`${isAgent(step) ? "agent" : "file"}\``);
    const asks = "tool" in step && (step.approval === true || step.result === undefined);
    if (isInner && asks && support.agents === "silent") throw new TypeError(`in the fake of \`${protocol}\` no call of a sub-agent can wait: \`${step.tool}\``);
    if (isAgent(step)) demand(step.script, support, protocol, true);
  }
}

/** The moves of an agent and of all sub-agents that it starts; `null` is the main agent. */
export async function* movesOf(steps: Steps, agent: SubAgent | null, stage: Stage): Moves {
  let words = "";
  let answers: readonly Answer[] = [];
  let isOver = false;
  try {
    for (;;) {
      // A script that threw is over as well.
      isOver = true;
      const { done, value } = await steps.next(answers);
      if (done) return words;
      isOver = false;
      const list = (Array.isArray(value) ? value : [value]) as readonly Step[];
      stage.demand(list, agent !== null);
      const failure = list.find(isError);
      const said = (failure ? list.slice(0, list.indexOf(failure)) : list).filter((step) => !isCall(step));
      words += said.map((step) => (typeof step === "string" ? step : "text" in step ? step.text : "")).join("");
      if (said.length > 0) yield { agent, steps: said };
      if (failure) throw new Error(failure.error);
      answers = [];
      const made = list.filter(isCall);
      if (made.length === 0) continue;
      words = "";
      const calls = made.map((step) => callOf(step, agent, stage));
      const agents = made.flatMap((step, at) => (isAgent(step) ? [{ step, at, agent: agentOf(step, calls[at]!, stage) }] : []));
      if (agents.length > 0 && calls.some(waits)) {
        throw new TypeError("a call that waits and a sub-agent cannot begin in one message");
      }
      answers = yield { calls: [calls] };
      if (agents.length === 0) continue;
      const outcomes = yield* together(agents, stage);
      answers = answers.map((answer, at) => ({ ...answer, content: outcomes.get(at) ?? answer.content }));
    }
  } finally {
    if (!isOver) await steps.return?.();
  }
}

/** A running sub-agent. */
interface Work {
  readonly agent: SubAgent;
  /** The index of its call. */
  readonly at: number;
  readonly begin: () => Moves;
  moves?: Moves;
  answers: readonly Answer[];
  /** Its calls that wait until the others are finished, or wait as well. */
  held?: readonly (readonly ToolCall[])[] | undefined;
}

/** The moves of sub-agents that work at the same time. Returns each one's last words, by the indexes of their calls. */
async function* together(agents: readonly { step: AgentStep; at: number; agent: SubAgent }[], stage: Stage): AsyncGenerator<Move, Map<number, string>, readonly Answer[]> {
  const outcomes = new Map<number, string>();
  const live = new Set(
    agents.map(({ step, at, agent }): Work => {
      const turn = { ...stage.turn, text: agent.input, agent: agent.name };
      return { at, agent, begin: () => movesOf(begun(step.script, turn), agent, { ...stage, turn }), answers: [] };
    }),
  );
  try {
    for (const { agent } of live) yield { begins: agent };
    while (live.size > 0) {
      for (const one of live) {
        if (one.held) continue;
        const step = await next(one);
        if ("move" in step) {
          if ("calls" in step.move && step.move.calls.flat().some(waits)) one.held = step.move.calls;
          else one.answers = yield step.move;
          continue;
        }
        live.delete(one);
        outcomes.set(one.at, step.failure === null ? step.words : `Error: ${step.failure}`);
        yield { ends: one.agent, failure: step.failure };
      }
      if ([...live].some(({ held }) => !held)) continue;
      const answers = live.size > 0 ? [...(yield { calls: [...live].flatMap(({ held }) => held!) })] : [];
      for (const one of live) {
        one.answers = answers.splice(0, one.held!.flat().length);
        one.held = undefined;
      }
    }
    return outcomes;
  } finally {
    for (const { moves } of live) await moves?.return("");
  }
}

/** The next move of a sub-agent, or its end. */
async function next(one: Work): Promise<{ move: Move } | { words: string; failure: string | null }> {
  try {
    one.moves ??= one.begin();
    const { done, value } = await one.moves.next(one.answers);
    return done ? { words: value, failure: null } : { move: value };
  } catch (error) {
    return { words: "", failure: messageOf(error) };
  }
}

function callOf(step: CallStep, by: SubAgent | null, { nextId }: Stage): ToolCall {
  const id = nextId("call");
  if (isAgent(step)) return { id, by, name: "create_sub_agent", arguments: { name: step.agent, input: step.input ?? "" }, waitsFor: "agent", result: "" };
  const { tool, arguments: given = {}, result, approval = false } = step;
  const waitsFor = approval ? "approval" : result === undefined ? "response" : "server";
  return { id, by, name: tool, arguments: given, waitsFor, result: result ?? "" };
}

function agentOf({ agent: name, input = "", title = name }: AgentStep, call: ToolCall, { nextId }: Stage): SubAgent {
  return { id: nextId("thread"), name, title, input, call };
}
