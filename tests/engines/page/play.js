// Plays cases of streams over HTTP.
import { BASE_URL, plain, read, snapshotOf, told, uncut } from "./report.js";

/** Plays a case with `connect` of the package, or of something that is used in the same way. */
export async function play(connect, plan, controller) {
  const { signal } = controller;
  for (let count = 0; count < plan.earlier; count += 1) await sayEarlier(connect, plan);
  const { session: id, script, pace, headers, connect: options, stream, abortAfter, expects } = plan;
  const began = performance.now();
  const tokens = countedTokens(plan.token);
  const watch = watchedFetch(plan);
  const client = await connect({
    baseUrl: BASE_URL,
    headers: { "x-turnwire-delay-ms": String(pace), ...headers },
    ...(tokens && { token: tokens.next }),
    ...(watch && { fetch: watch.fetch }),
    ...options,
  });
  // The clocks are for the turn; a busy machine may take longer for the page's first request.
  const session = await client.agents.getSession(id, { connectTimeout: 0 });
  const turn = session.createTurn({ input: script });
  const topics = listen(turn);
  const events = [];
  const errors = [];
  const run = plan.by === "waiting" ? wait : read;
  if (abortAfter !== undefined) setTimeout(() => controller.abort(new Error("enough")), abortAfter);
  const error = await run(turn, events, { ...stream, signal }, (event) => act(plan, event, turn, controller));
  if (error !== null) errors.push(error);
  if (error !== null && plan.again) {
    await fetch(`/_gateway/sessions/${id}/faults`, { method: "DELETE" });
    const next = await read(turn, events);
    if (next !== null) errors.push(next);
  }
  const took = performance.now() - began;
  const report = { events, errors, topics, took, turn: turn.id, status: turn.status, snapshot: snapshotOf(turn) };
  if (watch) report.tokens = watch.tokens;
  if (turn.id !== null && expects.reference === "whole") report.uncut = await uncut(id, turn.id, script);
  if (turn.id !== null && expects.reference === "kept") {
    report.uncut = await uncut(id, turn.id, script, report.snapshot.last_sequence_number);
  }
  return report;
}

/** Another client sends the same message first. */
async function sayEarlier(connect, { session: id, script }) {
  const client = await connect({ baseUrl: BASE_URL, headers: { "x-turnwire-delay-ms": "0" }, reconnect: false });
  const session = await client.agents.getSession(id, { connectTimeout: 0 });
  await read(session.createTurn({ input: script }), [], { connectTimeout: 0 });
}

/** Waits for the end with a listener instead of a loop. */
export async function wait(turn, events, options) {
  turn.on("event", (event) => events.push(plain(event)));
  try {
    await turn.waitForCompletion(options);
    return null;
  } catch (error) {
    return told(error);
  }
}

/** The turn's notices of its connection. */
export function listen(turn) {
  const topics = { reconnecting: [], resumed: [], gap: [], mismatch: [], idle: [] };
  for (const [topic, heard] of Object.entries(topics)) {
    turn.on(topic, ({ cause, ...rest }) => heard.push({ ...rest, ...(cause && { cause: told(cause) }) }));
  }
  return topics;
}

/** The actions of cases at the event of a certain number; anything else is a way to cut the connection. */
export async function act({ session, at, crash }, { sequence_number }, turn, controller) {
  const how = at?.[sequence_number];
  if (how === "cancel") await turn.cancel();
  else if (how?.startsWith("crash")) await fetch(`${crash}/${session}/${how}`, { method: "POST", mode: "no-cors" });
  else if (how === "abort") controller.abort(new Error("enough"));
  else if (how !== undefined) await fetch(`/_gateway/sessions/${session}/cut?how=${how}`, { method: "POST" });
}

/** `"fixed"` is a token that cannot be renewed, `"renewed"` a function that returns another each time. */
export function countedTokens(kind) {
  if (kind === undefined) return undefined;
  if (kind === "fixed") return { next: "fixed" };
  let count = 0;
  return { next: () => `token-${(count += 1)}` };
}

/** The platform's `fetch`, which notes the tokens of requests, or has a turn's streams expire before it is subscribed to. */
function watchedFetch({ session, token, expire }) {
  if (token === undefined && !expire) return undefined;
  const tokens = [];
  return {
    tokens,
    async fetch(url, init) {
      if (init?.method === "POST") tokens.push(new Headers(init.headers).get("authorization"));
      if (expire && /\/subscribe$/.test(String(url))) await expireOnceEnded(session, String(url));
      return fetch(url, init);
    },
  };
}

async function expireOnceEnded(session, url) {
  const ended = async () => {
    const { data } = await (await fetch(url.replace(/\/subscribe$/, ""))).json();
    return data.state.status !== "running";
  };
  while (!(await ended())) await new Promise((resolve) => setTimeout(resolve, 20));
  await fetch(`/_gateway/sessions/${session}/expire`, { method: "PUT" });
}
