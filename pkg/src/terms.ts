// What a server that knows sessions but no turns has to be told, and asked, around every turn: one at a time, with
// what waits known before it, and the session's settings sent along (the Agent Application Protocol).
import type { CoreSession } from "./boundary.js";
import { type Capabilities, capabilitiesOf } from "./capabilities.js";
import { adopting, InputError } from "./errors.js";
import type { RequiredActionEvent, TurnInputItem } from "./events.js";
import { demand } from "./options.js";
import { Turnstile } from "./turnstile.js";

/** A tool, as it is declared to agents and people. */
export interface ToolSpec {
  /** Its name, unique among the tools of a session. */
  readonly name: string;
  /** Its name for people. */
  readonly title?: string;
  /** What it does, for the agent. */
  readonly description: string;
  /** A JSON Schema of its input, which is an object. */
  readonly parameters: object;
}

/** A tool of the server's that an agent may use in a session. */
export interface ServerTool {
  readonly name: string;
  /** Whether it runs without asking; `false` by default. */
  readonly trust?: boolean;
}

/** A setting that an agent takes. */
export interface AgentOption {
  readonly type: "text" | "secret" | "select";
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly default: string;
  /** Of a `select`. */
  readonly options?: readonly string[];
}

/** How fine the answer of a turn comes: piece by piece, message by message, or all at once. */
export type StreamMode = "delta" | "message" | "none";

/** An agent, as the server lists it. */
export interface Agent {
  readonly name: string;
  readonly title?: string;
  readonly version: string;
  readonly description?: string;
  /** The server's tools that can be used in a session. */
  readonly tools?: readonly ToolSpec[];
  readonly options?: readonly AgentOption[];
  /** As the server declares them: what is there is supported. */
  readonly capabilities?: Readonly<Record<string, Readonly<Record<string, object>>>>;
}

/** How an agent is set up in a session. */
export interface AgentSettings {
  /** The server's tools that it may use. */
  agentTools?: readonly ServerTool[];
  /** Values of its options; those that are not named stay. */
  agentOptions?: Readonly<Record<string, string>>;
}

/** What the core makes of an agent's capabilities. @internal */
export interface AgentTerms {
  history: "full" | "compacted" | null;
  /** The finest of those that it declares. */
  stream: StreamMode;
  images: string[];
}

/** An agent, with what the core makes of it. @internal */
export type KnownAgent = Agent & { readonly terms: AgentTerms };

/** The next turn's settings. */
interface News {
  tools?: readonly ServerTool[];
  options?: Readonly<Record<string, string>>;
}

/** A session of such a server. @internal */
export class Terms {
  /** The agent. */
  readonly agent: KnownAgent;
  /** Its turns, one after the other. */
  readonly turnstile = new Turnstile();
  /** What the newest turn waits for, as far as is known. */
  waiting: readonly RequiredActionEvent[] = [];
  /** Whether the server's history may have what is not known here. */
  isStale: boolean;
  readonly #core: CoreSession;
  readonly #own: AgentTerms;
  #serverTools: readonly ServerTool[];
  /** The names of the tools that are the page's. */
  #tools: readonly string[];
  /** What the next turn says of these, because it is new. */
  #declare: readonly ToolSpec[] | undefined;
  #news: News | undefined;
  #capabilities: Capabilities | undefined;

  constructor(core: CoreSession, agent: KnownAgent, stream: StreamMode | undefined, serverTools: readonly ServerTool[], tools: readonly ToolSpec[], isNew: boolean) {
    this.agent = agent;
    this.#core = core;
    this.#own = { ...agent.terms, stream: stream ?? agent.terms.stream };
    this.#serverTools = serverTools;
    this.#tools = tools.map(({ name }) => name);
    this.isStale = !isNew;
    this.settle(isNew ? 0 : -1);
  }

  /** What can be done in the session: as much as its agent declares. */
  get capabilities(): Capabilities {
    return (this.#capabilities ??= capabilitiesOf(adopting(() => this.#core.capabilities()))[0]);
  }

  /** Whether anything of the past can be read. */
  get hasHistory(): boolean {
    return this.#own.history !== null;
  }

  /** What every call is told. */
  toJSON(): object {
    const { tools, options } = this.#news ?? {};
    return {
      ...this.#own,
      tools: this.#tools,
      ...(this.#declare && { declare: this.#declare }),
      ...(this.#news && { agent: { ...(tools && { tools }), ...(options && { options }) } }),
    };
  }

  /** Throws an `InputError` unless the agent takes tools of the page. */
  demandTools(): void {
    const { name, capabilities } = this.agent;
    demand(!!capabilities?.application?.tools, `agent \`${name}\` takes no tools of the page: it does not declare \`application.tools\``);
  }

  /** These are the page's tools; the next turn declares them. */
  declare(tools: readonly ToolSpec[]): void {
    this.#tools = tools.map(({ name }) => name);
    this.#declare = tools;
  }

  /** The next turn sets the agent up like this. */
  configure({ agentTools, agentOptions }: AgentSettings): void {
    if (agentTools) {
      this.#serverTools = agentTools;
      this.#news = { ...this.#news, tools: agentTools };
    }
    if (agentOptions) this.#news = { ...this.#news, options: { ...this.#news?.options, ...agentOptions } };
  }

  /** Whoever allows a call, and asks to remember that, trusts its tool; whoever denies it takes the tool away. */
  remember(input: readonly TurnInputItem[]): void {
    const calls = this.waiting.flatMap((action) => ("tool_calls" in action ? action.tool_calls : []));
    for (const item of input) {
      if (item.type !== "user.tool_approval" || item.approval.remember !== true) continue;
      const name = calls.find(({ id }) => id === item.tool_call_id)?.name;
      if (!this.#serverTools.some((tool) => tool.name === name)) {
        throw new InputError("invalid_input", `\`remember\` cannot hold for call \`${item.tool_call_id}\`: its tool is none that the session has by name`);
      }
      const isAllowed = item.approval.status === "allow";
      const others = this.#serverTools.filter((tool) => isAllowed || tool.name !== name);
      this.configure({ agentTools: others.map((tool) => (tool.name === name ? { ...tool, trust: true } : tool)) });
    }
  }

  /** The history was read, and has so many messages of the user; if that is less than none, it was not. */
  settle(said: number): void {
    this.#core.setTerms(`${JSON.stringify(this)}\0${JSON.stringify(this.waiting)}`, said);
    if (said >= 0) this.isStale = false;
  }

  /** The settings as they are about to be sent. Gives what notes that they have been. */
  send(): () => void {
    const [declared, news] = [this.#declare, this.#news];
    this.settle(-1);
    return () => {
      if (this.#declare === declared) this.#declare = undefined;
      if (this.#news === news) this.#news = undefined;
    };
  }
}
