// A session of the Agent Application Protocol, whose servers know no turns: one turn at a time, with its pending calls read before
// it, and the session's settings sent with it.
import type { CoreSession } from "../../boundary/boundary.js";
import type { Capabilities } from "../../boundary/capabilities.js";
import type { AgentSettings, AgentTerms, KnownAgent, ServerTool } from "../../client/agent.js";
import { adopting, busy, capabilitiesOf, demand, demandNames, InputError } from "../../client/face.js";
import type { History, HistoryPage } from "../../client/history.js";
import type { ConversationHost } from "../../client/load.js";
import type { ManagedSession, SetUpRecord } from "../../client/managed-session.js";
import type { TurnStatus } from "../../snapshot/snapshot.js";
import type { ToolSpec } from "../../tools/spec.js";
import type { RequiredActionEvent, TurnInputItem, TurnRecord, TurnState } from "../../wire/events.js";
import { readConversation as conversation } from "../conversation.js";
import type { AapSetup } from "./agents.js";
import { demandSettings } from "./settings.js";
import { Turnstile } from "../turnstile.js";

export { AapAgents } from "./agents.js";
export { relayed } from "../relay.js";

/** Reads a page of a session's history. */
export function readConversation(host: ConversationHost, page: HistoryPage): Promise<History> {
  return conversation(host, page, hasInput);
}

/** The settings that the next turn sends because they changed, and those that then hold in the session. */
interface Settings {
  /** The server's tools in the session. */
  readonly serverTools: readonly ServerTool[];
  /** The tools of the page. */
  readonly declare?: readonly ToolSpec[];
  readonly tools?: readonly ServerTool[];
  readonly options?: Readonly<Record<string, string>>;
}

/** A session of such a server. The client keeps the state that the server does not. */
export class AapSession implements ManagedSession {
  readonly agent: KnownAgent;
  readonly #core: CoreSession;
  readonly #own: AgentTerms;
  /** Its turns, one at a time. */
  readonly #turnstile = new Turnstile();
  /** The newest turn's required actions, as far as they are known. */
  #waiting: readonly RequiredActionEvent[] = [];
  /** Whether the server's history may have turns that are unknown here. */
  #isStale: boolean;
  /** The names of the page's tools. */
  #tools: readonly string[];
  #settings: Settings;
  /** The settings sent with the turn whose start is in flight. They hold once it has begun. */
  #said: { readonly before: Settings; readonly after: Settings } | undefined;
  #capabilities: Capabilities | undefined;

  constructor(core: CoreSession, { agent, stream }: AapSetup, record: SetUpRecord, isNew: boolean) {
    this.agent = agent;
    this.#core = core;
    this.#own = { ...agent.terms, stream: stream ?? agent.terms.stream };
    this.#settings = { serverTools: copied(record.agent?.tools ?? []) };
    this.#tools = (record.tools ?? []).map(({ name }) => name);
    this.#isStale = !isNew;
    this.#tell(isNew ? 0 : -1);
  }

  get capabilities(): Capabilities {
    return (this.#capabilities ??= capabilitiesOf(adopting(() => this.#core.capabilities()))[0]);
  }

  toJSON(): object {
    const { serverTools, declare, tools, options } = this.#said?.after ?? this.#settings;
    return {
      ...this.#own,
      tools: this.#tools,
      trusted: serverTools.filter(({ trust }) => trust === true).map(({ name }) => name),
      ...(declare && { declare }),
      ...((tools || options) && { agent: { ...(tools && { tools }), ...(options && { options }) } }),
    };
  }

  demandTools(names: readonly string[]): void {
    demand(this.capabilities.pageTools, `agent \`${this.agent.name}\` takes no tools of the page: it does not declare \`application.tools\``);
    const taken = names.find((name) => this.#settings.serverTools.some((tool) => tool.name === name));
    demand(taken === undefined, `the server has a tool \`${taken}\` in this session: a tool of the page must have another name`);
  }

  declare(tools: readonly ToolSpec[]): void {
    this.#tools = tools.map(({ name }) => name);
    this.#settings = { ...this.#settings, declare: copied(tools) };
  }

  configure(settings: AgentSettings): void {
    demandNames("update", settings, ["agentTools", "agentOptions"]);
    demandSettings(settings);
    const { agentTools, agentOptions } = settings;
    const { tools, options } = this.#settings;
    const serverTools = agentTools ? copied(agentTools) : this.#settings.serverTools;
    this.#settings = {
      ...this.#settings,
      serverTools,
      ...((agentTools || tools) && { tools: serverTools }),
      ...((agentOptions || options) && { options: { ...options, ...agentOptions } }),
    };
  }

  enter(
    input: readonly TurnInputItem[],
    whenBusy: "wait" | "fail",
    signal: AbortSignal,
    reread: () => Promise<void>,
  ): Promise<void> | undefined {
    if (this.#turnstile.isTaken && whenBusy === "fail") {
      throw busy();
    }
    if (this.#turnstile.isTaken || this.#isBehind) return this.#wait(input, signal, reread);
    this.#say(input);
    this.#turnstile.take();
    return undefined;
  }

  async #wait(input: readonly TurnInputItem[], signal: AbortSignal, reread: () => Promise<void>): Promise<void> {
    await this.#turnstile.enter(signal);
    try {
      if (this.#isBehind) await reread();
      this.#say(input);
    } catch (error) {
      this.#turnstile.leave();
      throw error;
    }
  }

  began(): void {
    const said = this.#said;
    if (!said) return;
    this.#said = undefined;
    const { before, after } = said;
    const { serverTools, declare, tools, options } = this.#settings;
    // Settings changed in the meantime are for the next turn.
    this.#settings = {
      serverTools: serverTools === before.serverTools ? after.serverTools : serverTools,
      ...(declare && declare !== before.declare && { declare }),
      ...(tools && tools !== before.tools && { tools }),
      ...(options && options !== before.options && { options }),
    };
  }

  leave(status: TurnStatus, state: TurnState | null): void {
    this.#said = undefined;
    if (state?.status === "done") this.#waiting = state.required_actions;
    // How much of it the server has is unknown.
    else if (status !== "unstarted") this.#isStale = true;
    this.#turnstile.leave();
  }

  stands(newest: TurnRecord | undefined, said: number): void {
    this.#waiting = newest?.state.status === "done" ? newest.state.required_actions : [];
    this.#tell(said);
    this.#isStale = false;
  }

  recall(): void {
    this.#isStale = true;
    this.#tell(-1);
  }

  get #isBehind(): boolean {
    return this.#isStale && this.#own.history !== null;
  }

  /** Sets the settings that a turn with this input sends. */
  #say(input: readonly TurnInputItem[]): void {
    const before = this.#settings;
    this.#said = { before, after: this.#remembered(input) };
    this.#tell(-1);
  }

  /** A remembered approval of a call trusts its tool; a remembered denial removes the tool. */
  #remembered(input: readonly TurnInputItem[]): Settings {
    const calls = this.#waiting.flatMap((action) => ("tool_calls" in action ? action.tool_calls : []));
    let tools = this.#settings.serverTools;
    for (const item of input) {
      if (item.type !== "user.tool_approval" || item.approval.remember !== true) continue;
      const name = calls.find(({ id }) => id === item.tool_call_id)?.name;
      if (!this.#settings.serverTools.some((tool) => tool.name === name)) {
        const problem = "its tool is none that the session has by name";
        throw new InputError("invalid_input", `\`remember\` cannot hold for call \`${item.tool_call_id}\`: ${problem}`);
      }
      const isAllowed = item.approval.status === "allow";
      const others = tools.filter((tool) => isAllowed || tool.name !== name);
      tools = others.map((tool) => (tool.name === name ? { ...tool, trust: true } : tool));
    }
    return tools === this.#settings.serverTools ? this.#settings : { ...this.#settings, serverTools: tools, tools };
  }

  /** Sets the number of the user's messages; a negative number leaves it unchanged. */
  #tell(said: number): void {
    this.#core.setTerms(`${JSON.stringify(this)}\0${JSON.stringify(this.#waiting)}`, said);
  }
}

/** A copy, so that later changes by the caller have no effect. */
function copied<T>(json: T): T {
  return JSON.parse(JSON.stringify(json)) as T;
}

interface HasInput {
  readonly input: readonly TurnInputItem[];
}

/** Whether two turns are the same by their input, as servers have no ids for turns. */
function hasInput(live: HasInput, known: HasInput): boolean {
  const messages = ({ input }: HasInput): string => JSON.stringify(input.map((item) => [item.type, "content" in item && item.content]));
  return messages(live) === messages(known);
}
