// The development gateway, and runs of the official client against it, each of whose frames the official schema checks.
import { HttpAgent } from "@ag-ui/client";
import { EventSchemas } from "@ag-ui/core/schemas";
import { after, before } from "node:test";
import { named, run } from "../parts.mjs";
import { join } from "node:path";

const GATEWAY = named("TURNWIRE_GATEWAY", join(import.meta.dirname, "../../../target/debug/turnwire-gateway"));

/** A gateway at full speed for the tests of a file. */
export function useGateway() {
  const world = {};
  before(async () => {
    const gateway = run(GATEWAY, ["--listen", "127.0.0.1:0", "--delay-ms", "0"]);
    await gateway.untilReady(() => gateway.output.length > 0);
    world.url = gateway.output[0].replace(/\/$/, "");
    world.stop = gateway.stop;
  });
  after(() => world.stop?.());
  return world;
}

/** The events of a stream in exactly the form of the protocol: one line of data, LF, a blank line. */
export function frames(body) {
  if (body === "") return [];
  if (!body.endsWith("\n\n")) throw new Error(`an incomplete frame: ${body.slice(-200)}`);
  return body.slice(0, -2).split("\n\n").map((frame) => {
    if (!frame.startsWith("data: ") || frame.includes("\n")) throw new Error(`not one line of data: ${frame}`);
    return JSON.parse(frame.slice(6));
  });
}

/** Why the official schema refuses an event, or nothing. It strips unknown fields, which is reported, too. */
export function flaw(event) {
  const parsed = EventSchemas.safeParse(event);
  if (!parsed.success) return JSON.stringify(parsed.error.issues).slice(0, 600);
  const unknown = Object.keys(event).filter((name) => !(name in parsed.data));
  return unknown.length > 0 ? `unknown: ${unknown}` : undefined;
}

/** An agent of the official client, with the frames that it read and the requests that it sent. */
export function agentAt(url, options = {}) {
  const seen = { frames: [], requests: [], warnings: [] };
  const agent = new HttpAgent({
    url,
    ...options,
    fetch: async (address, init) => {
      seen.requests.push(JSON.parse(init.body));
      const response = await fetch(address, init);
      const body = await response.clone().text();
      if (response.ok) seen.frames.push(...frames(body));
      return response;
    },
  });
  return Object.assign(agent, { seen });
}

/** Says something, and runs. `outcome` is the client's result, `error` its reason to refuse the run. */
export async function say(agent, words, parameters = {}) {
  if (words !== undefined) agent.addMessage({ id: crypto.randomUUID(), role: "user", content: words });
  const result = { outcome: undefined, interrupts: undefined, pending: undefined, runError: undefined, error: undefined };
  agent.seen.frames.length = 0;
  const { warn, error } = console;
  console.warn = (...said) => agent.seen.warnings.push(said.join(" "));
  console.error = () => {};
  try {
    await agent.runAgent({ runId: crypto.randomUUID(), ...parameters }, {
      onRunFinishedEvent: (end) => {
        result.outcome = end.outcome;
        result.interrupts = end.interrupts;
        result.pending = end.pendingToolCallIds;
      },
      onRunErrorEvent: ({ event }) => {
        result.runError = event;
      },
    });
  } catch (failure) {
    result.error = String(failure?.message ?? failure);
  } finally {
    Object.assign(console, { warn, error });
  }
  return result;
}

/** The text of the last message of the assistant. */
export const lastText = (agent) => agent.messages.findLast(({ role }) => role === "assistant")?.content;
