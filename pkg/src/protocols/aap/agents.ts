// Agents as servers of the Agent Application Protocol list them. A session there needs to know its agent.
import { Call } from "../../boundary/calls.js";
import type { Agent, KnownAgent, StreamMode } from "../../client/agent.js";
import { demand, demandOptions, list, split, within } from "../../client/face.js";
import type { ManagedAgents, ManagedOptions, MakeSession, SetUpRecord } from "../../client/managed-session.js";
import type { Limits } from "../../transport/clocks.js";
import type { ListOptions } from "../../transport/lists.js";
import type { Server } from "../../transport/retry.js";
import type { SessionRecord } from "../../wire/events.js";
import { demandSettings } from "./settings.js";

/** What a session needs besides its record. */
export interface AapSetup {
  readonly agent: KnownAgent;
  readonly stream: StreamMode | undefined;
}

/** The agents of a server, and their sessions. */
export class AapAgents<S> implements ManagedAgents<S> {
  readonly sessionOptions = ["agentTools", "agentOptions", "messages", "stream"];
  readonly readOptions = ["stream"];
  readonly #server: Server;
  readonly #make: MakeSession<S>;
  /** The agents as last listed. */
  #known: Promise<KnownAgent[]> | undefined;

  constructor(server: Server, make: MakeSession<S>) {
    this.#server = server;
    this.#make = make;
  }

  async agents(limits: Limits): Promise<Agent[]> {
    return (await this.#listed(limits)).map(({ terms: _, ...agent }) => agent);
  }

  create(agentName: string, options: ManagedOptions): Promise<S> {
    demandSettings(options);
    const { stream, messages, agentOptions, agentTools } = options;
    return within(split(options)[0], async (limits) => {
      const agent = await this.#agent(agentName, limits, stream);
      const tools = agentTools ?? agent.tools?.map(({ name }) => ({ name }));
      const params = { agentName, agentTools: tools, agentOptions, messages };
      const record = await this.#server.transport.ask<SessionRecord>(Call.CreateSession, params, limits);
      // Servers differ in which messages their histories contain.
      return this.#made({ ...record, agent: { tools: tools! } }, !messages?.length, agent, stream);
    });
  }

  read(sessionId: string, options: ManagedOptions): Promise<S> {
    const { stream } = options;
    return within(split(options)[0], async (limits) => {
      const record = await this.#server.transport.ask<SessionRecord>(Call.GetSession, { sessionId }, limits);
      return this.#made(record, false, await this.#agent(record.agent_name ?? "", limits, stream), stream);
    });
  }

  async *sessions(agentName: string, options: ListOptions): AsyncGenerator<S, void, undefined> {
    demandOptions("listSessions", options, "limit", "pageToken");
    const agent = await this.#agent(agentName, split(options)[0]);
    const records = list(this.#server, Call.ListSessions, { agentName }, options, (record: SessionRecord) => record);
    for await (const record of records) if (record.agent_name === agentName) yield this.#made(record, false, agent);
  }

  #made(record: SetUpRecord, isNew: boolean, agent: KnownAgent, stream?: StreamMode): S {
    const setup: AapSetup = { agent, stream };
    return this.#make(record, isNew, setup);
  }

  #listed(limits: Limits): Promise<KnownAgent[]> {
    const asked = this.#server.transport.ask<{ items: KnownAgent[] }>(Call.ListAgents, {}, limits);
    const agents = asked.then(({ items }) => items);
    this.#known = agents;
    // The next call asks the server again.
    agents.catch(() => (this.#known = undefined));
    return agents;
  }

  /** A known agent, listed again if necessary. Throws an `InputError` unless it supports this mode. */
  async #agent(name: string, limits: Limits, stream?: StreamMode): Promise<KnownAgent> {
    const named = (agents: KnownAgent[] = []): KnownAgent | undefined => agents.find((agent) => agent.name === name);
    let agent = named(await this.#known?.catch(() => undefined));
    if (!agent) {
      const agents = await this.#listed(limits);
      agent = named(agents);
      demand(!!agent, `the server has no agent \`${name}\`; it has ${agents.map((one) => one.name).join(", ")}`);
    }
    const { modes } = agent.terms;
    demand(stream == null || modes.includes(stream), `\`stream\` must be one of what agent \`${name}\` declares: ${modes.join(", ")}`);
    return agent;
  }
}
