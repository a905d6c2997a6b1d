// A client whose server stands behind a relay, which keeps the streams of turns. The core knows the relay's requests and frames.
import type { CoreClient } from "../boundary/boundary.js";
import { Call } from "../boundary/calls.js";
import { ProtocolError } from "../client/face.js";
import type { ConversationHost, Extras } from "../client/load.js";
import type { ConnectOptions } from "../client/options.js";
import type { Watch } from "../transport/clocks.js";
import type { FetchTransport } from "../transport/fetch.js";
import type { Settings, StreamBody } from "../transport/transport.js";
import type { SessionEvent, TurnRecord } from "../wire/events.js";

/** The parts that a family replaces when its server is behind a relay. */
export function relayed(extras: Extras, Way: typeof FetchTransport): Extras {
  const isWhole = ({ before, lastTurnId }: { before: unknown; lastTurnId: unknown }): boolean => before === undefined && lastTurnId === undefined;
  return {
    ...extras,
    Way: wayOver(Way),
    readHistory: (host, page) => extras.readHistory(isWhole(page) ? withOpenTurn(host) : host, page),
  };
}

/** The transport to a relay. */
function wayOver(Way: typeof FetchTransport): NonNullable<Extras["Way"]> {
  return class extends Way {
    /** The heads of responses, by the signals of their requests. */
    readonly #heads: WeakMap<AbortSignal, Headers>;

    constructor(core: CoreClient, baseUrl: string, options: ConnectOptions, settings: Settings) {
      const heads = new WeakMap<AbortSignal, Headers>();
      const send = options.fetch ?? ((url, init) => globalThis.fetch(url, init));
      const fetch = async (url: string, init: RequestInit): Promise<Response> => {
        const response = await send(url, init);
        heads.set(init.signal!, response.headers);
        return response;
      };
      super(core, baseUrl, { ...options, fetch } as ConstructorParameters<typeof FetchTransport>[2], settings);
      this.#heads = heads;
    }

    override async open(call: Call, params: string, watch: Watch): Promise<string | StreamBody> {
      const answer = await super.open(call, params, watch);
      const head = this.#heads.get(watch.signal);
      if (head && !head.has("turnwire-relay")) {
        throw new ProtocolError("unexpected_response", "the server is no relay: leave out `relay`");
      }
      if (typeof answer === "string") return answer;
      const first = new TextEncoder().encode(`event: turnwire.log\ndata: ${head?.get("turnwire-log")}\n\n`);
      return {
        read: (push, watch, reader) => {
          push(first);
          return answer.read(push, watch, reader);
        },
      };
    }
  };
}

/**
 * The same session, with the turn that the relay still reads. The server may have no id for it, or store it only when it has ended.
 */
function withOpenTurn(host: ConversationHost): ConversationHost {
  let begun: SessionEvent | undefined;
  return {
    ...host,
    async *records(options) {
      const all: (readonly [TurnRecord, string | undefined])[] = [];
      for await (const record of host.records(options)) all.push(record);
      const { turns } = await host.ask<{ turns: { id: string }[] }>(Call.ListOpenTurns);
      const id = turns[0]?.id;
      const last = all.at(-1)?.[0];
      if (id !== undefined && !all.some(([record]) => record.id === id)) {
        // Servers without ids for turns count them.
        if (last && "said" in last && last.state.status === "running") all[all.length - 1] = [{ ...last, id }, undefined];
        else {
          const record = { id, previous_turn_id: last?.id ?? null, input: [], state: { status: "running" }, created_by_subject: null, created_at: null };
          begun = { turn_id: id, event: { ...record, type: "turn.created", turn_id: id, thread_id: null } as unknown as SessionEvent["event"] };
          all.push([record as unknown as TurnRecord, undefined]);
        }
      }
      yield* all;
    },
    async *events(options) {
      yield* host.events(options);
      if (begun) yield begun;
    },
  };
}
