// The public types as a page's compiler sees them: this file only has to compile, and each
// `@ts-expect-error` has to be an error. It imports the package by its name, through its exports.
import { allow, connect, deny, isEventDelta, mergeEventDelta, ModelMessageBuilder, respond, TurnwireError } from "turnwire";
import type {
  Client,
  Clocks,
  ErrorCode,
  History,
  ListedEvent,
  MessageSnapshot,
  Readable,
  Reconnecting,
  ReconnectOptions,
  RequiredAction,
  Run,
  RunOptions,
  RunReason,
  Session,
  SettledTurn,
  StreamEvent,
  TerminalState,
  ToolContext,
  ToolDefinition,
  Tools,
  ToolsOptions,
  Turn,
  TurnInputItem,
  TurnSnapshot,
  TurnStatus,
  Waiting,
} from "turnwire";
import { fakeServer, type Answer, type FakeServer, type Script, type Step } from "turnwire/testing";
import * as aap from "turnwire/aap";
import * as agentEvent from "turnwire/agent-event";
import { connect as nowasmConnect } from "turnwire/nowasm";
import { connect as slimConnect, init } from "turnwire/slim";
import * as trueFoundry from "turnwire/truefoundry";
import * as turnRpc from "turnwire/turn-rpc";

/** Both types are the same type. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function holds<_Claim extends true>(): void {}

export async function usualWay(signal: AbortSignal): Promise<TurnStatus> {
  const client: Client = await connect({
    baseUrl: "https://gateway.example/acme",
    protocol: "truefoundry",
    token: async () => "token",
    headers: { "x-trace": "1" },
  });
  const session: Session = await client.agents.createSession("support-bot", { title: "A ticket", signal });
  const turn: Turn = session.createTurn({ input: "Hello" });
  for await (const event of turn.stream({ signal, afterSequenceNumber: 0 })) {
    holds<Same<typeof event, StreamEvent>>();
    const number: number = event.sequence_number;
    describe(event).repeat(number);
  }
  turn.on("mismatch", (told) => holds<Same<typeof told, { readonly id: number; readonly sequence_number: number }>>());
  for await (const event of turn.listEvents()) {
    holds<Same<typeof event, ListedEvent>>();
    const number: number | undefined = event.sequence_number;
    if (event.type === "tool.response") event.content.repeat(number ?? 0);
  }
  for await (const { event } of session.listEvents()) holds<Same<typeof event, ListedEvent>>();
  if (session.capabilities.steer) {
    const said: void = await turn.steer([{ type: "user.message", content: "And in Rome?" }], { signal, deadline: 1000 });
    // @ts-expect-error It takes no options of turns.
    await turn.steer("more", { turnOptions: {} });
    holds<Same<typeof said, void>>();
    return turn.status;
  }
  await turn.waitForCompletion({ signal });
  return turn.status;
}

/** A switch over every type leaves nothing; a new event type breaks this function, as it should. */
function describe(event: StreamEvent): string {
  switch (event.type) {
    case "turn.created":
    case "turn.done":
    case "model.message":
    case "model.message.delta":
    case "tool.response":
    case "thread.created":
    case "thread.done":
    case "mcp.initialize":
    case "mcp.auth_required":
    case "sandbox.created":
    case "tool.approval_required":
    case "tool.response_required":
    case "tool.resumed":
    case "tool.cancelled":
    case "message.reset":
    case "state.snapshot":
    case "state.delta":
    case "messages.snapshot":
    case "activity.snapshot":
    case "activity.delta":
    case "tool.output":
    case "notice":
    case "server.error":
      return event.type;
    case "unknown":
      return event.wire_type ?? "";
    default: {
      const nothing: never = event;
      return nothing;
    }
  }
}

export function answers(action: RequiredAction): TurnInputItem | string {
  switch (action.type) {
    case "tool.approval_required": {
      const { thread_id, tool_call_id } = action;
      return { type: "user.tool_approval", thread_id, tool_call_id, approval: { status: "deny", reason: "no" } };
    }
    case "tool.response_required":
      return {
        type: "user.tool_response",
        thread_id: action.thread_id,
        tool_call_id: action.tool_call_id,
        content: "42",
      };
    case "mcp.auth_required":
      return action.server.auth_url;
  }
}

export function snapshots(turn: Turn, snapshot: TurnSnapshot): void {
  holds<Same<ReturnType<Turn["snapshot"]>, TurnSnapshot>>();
  holds<Same<TurnSnapshot["status"], TurnStatus>>();
  const messages: readonly MessageSnapshot[] = snapshot.threads[0]?.messages ?? [];
  const text: string | undefined = messages.at(-1)?.content;
  const stop: () => void = turn.subscribe(() => text);
  const view: Readable<TurnSnapshot> = turn.view;
  view.subscribe(() => view.get().status)();
  stop();
  turn.on("model.message.delta", (event) => {
    holds<Same<typeof event.type, "model.message.delta">>();
  })();
  // @ts-expect-error A snapshot is immutable.
  snapshot.status = "done";
  // @ts-expect-error A message is immutable.
  messages[0]!.content = "";
  // @ts-expect-error There is no such event.
  turn.on("no.such.event", () => {});
}

/** Lost connections: how long, how often, and what is reported of them. */
export async function resuming(session: Session, signal: AbortSignal): Promise<Turn | undefined> {
  await connect({
    baseUrl: "https://gateway.example/acme", connectTimeout: 0, idleTimeout: 45_000, reconnect: { maxAttempts: 3, baseDelay: 100, maxDelay: 5000 },
  });
  const turns: History = await session.resume({ signal, deadline: 60_000, reconnect: false });
  const turn: Turn | undefined = turns.last;
  turn?.on("reconnecting", (value) => {
    holds<Same<typeof value, Reconnecting>>();
    holds<Same<typeof value.cause, TurnwireError>>();
    const [attempt, delay]: number[] = [value.attempt, value.delay];
    return [attempt, delay, value.cause.retryAfter];
  });
  turn?.on("waiting", (value) => {
    holds<Same<typeof value, Waiting>>();
    return value.for === "history" || value.for === "turn" || value.for === "events" ? value.delay : holds<Same<typeof value.for, never>>();
  });
  turn?.on("resumed", ({ after }) => after + 1);
  turn?.on("gap", ({ after, next }) => next - after);
  turn?.on("idle", ({ silence }) => silence + 1);
  holds<Same<TurnSnapshot["reconnecting"], Reconnecting | null>>();
  holds<Same<TurnSnapshot["waiting"], Waiting | null>>();
  const clocks: Clocks = { connectTimeout: 1000, idleTimeout: 1000, deadline: 1000 };
  const persistence: ReconnectOptions = {};
  turn?.stream({ ...clocks, reconnect: persistence });
  await turn?.waitForCompletion({ ...clocks, reconnect: persistence });
  await turn?.state(clocks);
  // @ts-expect-error A client has no deadline.
  await connect({ baseUrl: "https://gateway.example", deadline: 1000 });
  // @ts-expect-error It is an object of limits, or `false`.
  turn?.stream({ reconnect: true });
  // @ts-expect-error A single request takes no such option.
  await turn?.state({ reconnect: false });
  return turn;
}

/** Tools of the page, and a run that goes on with their results. */
export async function tools(session: Session, signal: AbortSignal): Promise<RunReason | undefined> {
  const clock: ToolDefinition = {
    title: "Clock",
    description: "The time in a zone",
    parameters: { type: "object", properties: { zone: { type: "string" } } },
    timeout: 1000,
    async run(input, context) {
      holds<Same<typeof input, Record<string, unknown>>>();
      holds<Same<typeof context, ToolContext>>();
      return fetch(`/time?call=${context.callId}&tool=${context.name}`, { signal: context.signal });
    },
  };
  // The parameter's type may describe the arguments that the model was told to send.
  const sum: ToolDefinition = { description: "A sum", run: ({ a, b }: { a: number; b: number }) => a + b };
  const map: Tools = { clock, sum };
  const options: ToolsOptions = { timeout: 0 };
  const names: string[] = [...session.tools(map, options), ...session.tools(map), ...session.tools()];
  const rounds: RunOptions = { signal, maxRounds: names.length, reconnect: false, deadline: 1000, previousTurnId: "none", discardPending: true };
  const run: Run = session.run("What time is it?", rounds);
  for await (const turn of run) holds<Same<typeof turn, Turn>>();
  const turns: readonly Turn[] = run.turns;
  const state: TerminalState = await run.waitForCompletion();
  session.run();
  session.run(null, { maxRounds: 0 });
  session.run([{ type: "user.tool_response", thread_id: "main", tool_call_id: turns[0]!.id!, content: state.status }]);
  // @ts-expect-error A tool says what it does.
  session.tools({ clock: { run: () => 1 } });
  // @ts-expect-error A tool runs.
  session.tools({ clock: { description: "The time" } });
  // @ts-expect-error There is no such option.
  session.run("Hello", { rounds: 1 });
  // @ts-expect-error The input stands beside the options.
  session.run({ input: "Hello" });
  return run.reason;
}

/** Pages that keep their own state need no casts. */
export async function byHand(turn: Turn): Promise<string> {
  const events = new Map<string, StreamEvent>();
  const builder = new ModelMessageBuilder();
  for await (const event of turn.stream()) {
    if (isEventDelta(event)) {
      const base = events.get(event.id);
      if (base) events.set(event.id, mergeEventDelta(base, event));
      builder.add(event);
    } else if (event.type !== "unknown") {
      events.set(event.id, event);
    }
  }
  return builder.buildAndReset().finish_reason;
}

/** The same with a switch. */
export function merged(messages: Map<string, StreamEvent & { type: "model.message" }>, event: StreamEvent): void {
  if (event.type === "model.message") messages.set(event.id, event);
  if (event.type !== "model.message.delta") return;
  const base = messages.get(event.id);
  if (base) holds<Same<ReturnType<typeof mergeEventDelta<typeof base>>, typeof base>>();
  if (base) mergeEventDelta(base, event).tool_calls?.map((call) => call?.function.name);
}

export async function misuse(session: Session): Promise<void> {
  // @ts-expect-error The address is required.
  await connect({});
  // @ts-expect-error There is no such protocol.
  await connect({ baseUrl: "https://gateway.example", protocol: "smtp" });
  // @ts-expect-error There is no such option.
  session.createTurn({ inputs: "Hello" });
  // @ts-expect-error An approval allows or denies.
  session.createTurn({ input: { type: "user.tool_approval", thread_id: "a", tool_call_id: "b", approval: {} } });
}

/** Entries with a core inside have the same API. */
export async function inside(): Promise<History> {
  const entries = [trueFoundry, agentEvent, aap, turnRpc];
  holds<Same<typeof trueFoundry.connect, typeof connect>>();
  holds<Same<typeof aap.TurnwireError, typeof TurnwireError>>();
  await Promise.all(entries.map((entry) => entry.init()));
  const client: Client = await turnRpc.connect({ baseUrl: "https://gateway.example/acme", protocol: "codex" });
  const session: aap.Session = await client.agents.getSession("s");
  // @ts-expect-error There is no such entry.
  await import("turnwire/smtp");
  return session.history();
}

/** A page shows turns of both kinds in the same way, and acts only on live turns. */
export async function past(session: Session): Promise<readonly (Turn | SettledTurn)[]> {
  const turns: History = await session.history({ turns: 20 });
  const last = turns.at(-1);
  if (last && "cancel" in last) await last.cancel();
  const views: Readable<TurnSnapshot>[] = turns.map(({ view }) => view);
  views.map(({ get }) => get().status);
  const [first] = turns;
  // @ts-expect-error A settled turn is only shown.
  first?.stream();
  const id: string | null | undefined = first?.id;
  // @ts-expect-error A page is not changed.
  turns.push(first);
  return turns.hasEarlier && id ? [...(await session.history({ before: id })), ...turns] : turns;
}

export async function slim(): Promise<string | undefined> {
  await init(fetch("/core.wasm"));
  await init(new Uint8Array(8));
  try {
    await slimConnect({ baseUrl: "https://gateway.example/acme" });
    await nowasmConnect({ baseUrl: "https://gateway.example/acme", protocol: "trueforge" });
  } catch (error) {
    if (error instanceof TurnwireError) {
      holds<Same<typeof error.code, ErrorCode>>();
      return error.code;
    }
  }
  return undefined;
}

/** Each union narrows by its discriminant, and leaves nothing over. */
export function narrowed(snapshot: TurnSnapshot, item: TurnInputItem): string {
  const left = (value: never): string => value;
  const { state } = snapshot;
  switch (state?.status) {
    case undefined:
    case "running":
      break;
    case "done":
      state.required_actions.map((action) => action.type);
      break;
    case "cancelled":
      holds<Same<typeof state.reason, string | null>>();
      break;
    case "error":
      holds<Same<typeof state.message, string>>();
      break;
    default:
      return left(state);
  }
  for (const action of snapshot.required_actions) {
    switch (action.type) {
      case "tool.approval_required":
        [allow(action), deny(action, "no")].map((reply) => reply.type);
        // @ts-expect-error An approval is no answer to a question.
        respond(action, "yes");
        break;
      case "tool.response_required":
        respond(action, { ok: true });
        // @ts-expect-error A question is not allowed or denied.
        allow(action);
        break;
      case "mcp.auth_required":
        action.server.toString();
        break;
      default:
        return left(action);
    }
  }
  if (item.type !== "user.message" || typeof item.content === "string") return item.type;
  for (const part of item.content) {
    switch (part.type) {
      case "text":
        return part.text;
      case "file":
        return part.data;
      case "file_upload":
        return part.file.toString();
      case "image":
      case "audio":
      case "video":
        return part.url;
      case "localImage":
      case "localFile":
      case "localAudio":
      case "localVideo":
      case "mention":
      case "skill":
        return part.path;
      case "artifact":
        return part.artifactId;
      default:
        return left(part);
    }
  }
  return "";
}

/** Options may be passed on as they are, undefined or not. */
export function passedOn(session: Session, token: string | undefined, signal: AbortSignal | undefined): Promise<Client> {
  const turn = session.createTurn("Hello", { previousTurnId: undefined, discardPending: undefined });
  void turn.waitForCompletion({ signal, deadline: undefined, reconnect: undefined });
  return connect({ baseUrl: "/api", token, headers: undefined, idleTimeout: undefined });
}

/** `using` releases a turn, and a client. Nothing has to be freed, and nothing can be. */
export async function disposables(session: Session): Promise<[() => void, () => PromiseLike<void>, () => void]> {
  using client = await connect({ baseUrl: "https://gateway.example/acme" });
  using turn = session.createTurn("Hello");
  await using other = (await session.resume()).last ?? turn;
  await other.waitForCompletion();
  holds<Same<"free" extends keyof Turn | keyof Session | keyof Client | keyof Run ? true : false, false>>();
  return [turn[Symbol.dispose], turn[Symbol.asyncDispose], client[Symbol.dispose]];
}

/** What failed is in one place, with one type; `state`, as the server has it, has a message only if the server failed. */
export function failed({ error, state }: TurnSnapshot): string | undefined {
  holds<Same<typeof error, TurnwireError | null>>();
  // @ts-expect-error A turn that was done or cancelled has no message.
  const unchecked = state?.message;
  if (state?.status === "error") holds<Same<typeof state.message, string>>();
  return error?.message;
}

/** Everything that can be answered, without a filter before it. */
export function answered(actions: readonly RequiredAction[]): TurnInputItem[] {
  return actions.flatMap((action) => {
    if (action.type === "mcp.auth_required") return [];
    return action.type === "tool.response_required" ? respond(action, "yes") : deny(action, "not today");
  });
}

// A script is plain data, or yields it; a `yield` returns answers.
const steps: Step[] = ["Hello", { reasoning: "Hm." }, { tool: "restart", approval: true, result: "ok" }, { wait: 10 }, { error: "gone" }];
const script: Script = async function* ({ text, number, signal }) {
  const [answer] = yield { tool: "restart", arguments: { service: text }, result: "ok", approval: true };
  const answers: readonly Answer[] = yield [{ tool: "a", result: number }, { tool: "b" }];
  yield answer?.allowed ? `Done ${answers.length}` : String(answer?.reason ?? signal.aborted);
};
export const server: FakeServer = fakeServer(script, { protocol: "awaken", delay: 5 });
export const fake: Promise<Client> = connect({ ...server.connection, reconnect: { maxAttempts: 1 } });
server.script = steps;
server.script = ({ text }) => text;
server.script = ({ text }) => [`You said ${text}`];
server.fail("reset:3");
// @ts-expect-error: there is no such step
server.script = [{ txet: "a" }];
// @ts-expect-error: nor such a protocol
fakeServer("Hello", { protocol: "grpc" });
