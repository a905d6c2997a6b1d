// What the development gateway's scripted agents can do, as messages to the help desk of a hosting company. The first
// word selects the script; other agents simply get the sentence.

import type { Client, Protocol } from "turnwire";
import { SERVED } from "../settings/protocols";
import type { IconName } from "../ui/Icon";

export interface Suggestion {
  readonly icon: IconName;
  readonly title: string;
  readonly about: string;
  readonly message: string;
  /** The protocols with which it works as described; by default all with scripted agents. */
  readonly by?: readonly Protocol[];
  /** What the protocol has to support. Scripted agents that use tools of the page also ask before they act. */
  readonly needs?: "pageTools" | "documents";
}

const TURNS: readonly Protocol[] = ["truefoundry", "trueforge"];
const RUNS: readonly Protocol[] = ["tirea", "awaken"];
const RPC: readonly Protocol[] = ["turn-rpc"];
const SCRIPTED: readonly Protocol[] = SERVED.map(({ id }) => id);
/** A real agent, which works on its server's machine. */
const CODEX: readonly Protocol[] = ["codex"];

export const SUGGESTIONS: readonly Suggestion[] = [
  {
    icon: "shield",
    title: "Approve an action",
    about: "Nothing happens until you allow it",
    message: "Approval first, please: the billing service does not answer.",
    needs: "pageTools",
  },
  {
    icon: "box",
    title: "Run a command",
    about: "Its output appears while it runs",
    message: "Shell, please: run a command that prints two lines.",
    by: RPC,
  },
  {
    icon: "agent",
    title: "Share the work",
    about: "Three sub-agents, each in its own thread",
    message: "Subagents, find out together why the shop is slow.",
  },
  {
    icon: "tool",
    title: "Call tools",
    about: "Arguments as they arrive, then the results",
    message: "Tools, please: how are my services doing?",
  },
  {
    icon: "question",
    title: "Answer a question",
    about: "The agent asks, with options to choose from",
    message: "Question me if you need to, and set up a new site.",
    needs: "pageTools",
  },
  {
    icon: "clock",
    title: "Tools of this page",
    about: "A clock and a calculator that run right here",
    message: "Page, what time is it in Tokyo, and what is six times seven?",
    needs: "pageTools",
  },
  {
    icon: "retry",
    title: "Fail and recover",
    about: "The model’s provider fails, the next attempt continues",
    message: "Recover, please, if the model drops out.",
    by: RPC,
  },
  {
    icon: "thought",
    title: "Think aloud",
    about: "Reasoning first, then the answer",
    message: "Reasoning, please: when should the maintenance run?",
    by: RPC,
  },
  {
    icon: "bolt",
    title: "100,000 pieces",
    about: "A very long answer, as fast as it can be read",
    message: "Long story, please, from the first chapter to the last.",
  },
  {
    icon: "list",
    title: "Look around",
    about: "The files in its folder, and what they are for",
    message: "Which files are here, and what are they for?",
    by: CODEX,
  },
  {
    icon: "shield",
    title: "Run a command",
    about: "It may ask you first",
    message: "Run the tests, and tell me what fails.",
    by: CODEX,
  },
];

export interface Script {
  readonly label: string;
  readonly message: string;
  /** The protocols with which the script does what its label says; by default all with scripted agents. */
  readonly by?: readonly Protocol[];
  /** What the protocol has to support. */
  readonly needs?: "pageTools" | "documents";
}

/** More scripts, for which a short label is enough. */
export const MORE: readonly Script[] = [
  { label: "Plain answer", message: "Plain words only, please: what is this page?" },
  { label: "Think aloud", message: "Reasoning, please: when should the maintenance run?", needs: "pageTools" },
  { label: "Rich text", message: "Markdown, please: how do I move a site without downtime?" },
  { label: "Tools side by side", message: "Parallel measurements from three cities, please." },
  { label: "Sign in to a server", message: "MCP: plan the migration around my calendar.", by: TURNS },
  { label: "Work in a sandbox", message: "Sandbox: collect this year's uptime in a table.", by: TURNS },
  { label: "Keep a state", message: "Sandbox: collect this year's uptime in a table.", by: RUNS },
  { label: "Edit a file", message: "Edit the settings, please: the shop needs more memory.", by: RPC },
  { label: "Search the web", message: "Search, please: why is the shop out of memory?", by: RPC },
  { label: "Read a page", message: "Fetch the help page about memory, please.", by: RPC },
  { label: "Download a file", message: "Download the report, please.", by: RPC },
  { label: "One sub-agent", message: "Task: find out why the shop is slow.", by: RPC },
  { label: "Compact the history", message: "Compact what we have said, please.", by: RPC },
  { label: "A call that hangs", message: "Stuck, or not? Run a command that may hang.", by: RPC },
  { label: "A tool that times out", message: "Timeout, perhaps: ask a tool that is slow today.", by: RPC },
  { label: "A limit of rounds", message: "Budget permitting, read all the logs.", by: RPC },
  { label: "Every attempt fails", message: "Exhaust every attempt, please.", by: RPC },
  { label: "Send a file", message: "File attached: did it arrive?", needs: "documents" },
  { label: "Send an image", message: "File attached: did it arrive?", by: ["aap"] },
  { label: "Approve and answer", message: "Mixed: prepare everything for the sale.", needs: "pageTools" },
  { label: "This page’s tools and you", message: "Page mixed with your word: may billing be restarted?", needs: "pageTools" },
  { label: "This page, round by round", message: "Page rounds 4 times, please: multiply something.", needs: "pageTools" },
  { label: "A sub-agent that asks", message: "Subagents approval included: why is the shop slow?", needs: "pageTools" },
  { label: "Many alphabets", message: "Unicode from everywhere, please." },
  { label: "A connection to cut", message: "Slow and steady, please, while I cut the connection." },
  { label: "Out of tokens", message: "Length without limit, please." },
  { label: "A failure", message: "Error, please: I want to see one." },
  { label: "What else?", message: "What can you do?" },
];

export function fits({ by = SCRIPTED, needs }: Pick<Script, "by" | "needs">, { protocol, capabilities }: Client): boolean {
  return by.includes(protocol) && (!needs || capabilities[needs]);
}
