// What the development gateway's scripted agents can do, as things a person might say to the help desk of a hosting
// company. The first word chooses the script; any other agent simply gets the sentence.

import type { Protocol } from "turnwire";
import type { IconName } from "../ui/Icon";

export interface Suggestion {
  readonly icon: IconName;
  readonly title: string;
  readonly about: string;
  readonly message: string;
}

export const SUGGESTIONS: readonly Suggestion[] = [
  {
    icon: "shield",
    title: "Approve an action",
    about: "Nothing is touched before you allow it",
    message: "Approval first, please: the billing service does not answer.",
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
    title: "Be asked back",
    about: "A question with options to choose from",
    message: "Question me if you need to, and set up a new site.",
  },
  {
    icon: "clock",
    title: "Tools of this page",
    about: "A clock and a calculator that run right here",
    message: "Page, what time is it in Tokyo, and what is six times seven?",
  },
  {
    icon: "bolt",
    title: "100,000 pieces",
    about: "A very long answer, as fast as it can be read",
    message: "Long story, please, from the first chapter to the last.",
  },
];

export interface Script {
  readonly label: string;
  readonly message: string;
  /** Where the script shows what its label says; by default everywhere. */
  readonly by?: readonly Protocol[];
}

const TURNS: readonly Protocol[] = ["truefoundry", "trueforge"];
const RUNS: readonly Protocol[] = ["tirea", "awaken"];

/** More scripts, for which a few words are enough. */
export const MORE: readonly Script[] = [
  { label: "Plain answer", message: "Plain words only, please: what is this page?" },
  { label: "Think aloud", message: "Reasoning, please: when should the maintenance run?" },
  { label: "Rich text", message: "Markdown, please: how do I move a site without downtime?" },
  { label: "Tools side by side", message: "Parallel measurements from three cities, please." },
  { label: "Sign in to a server", message: "MCP: plan the migration around my calendar.", by: TURNS },
  { label: "Work in a sandbox", message: "Sandbox: collect this year's uptime in a table.", by: TURNS },
  { label: "Keep something in mind", message: "Sandbox: collect this year's uptime in a table.", by: RUNS },
  { label: "Send a file", message: "File attached: did it arrive?", by: TURNS },
  { label: "Send an image", message: "File attached: did it arrive?", by: ["aap"] },
  { label: "Approve and answer", message: "Mixed: prepare everything for the sale." },
  { label: "This page’s tools and you", message: "Page mixed with your word: may billing be restarted?" },
  { label: "This page, round by round", message: "Page rounds 4 times, please: multiply something." },
  { label: "A sub-agent that asks", message: "Subagents approval included: why is the shop slow?" },
  { label: "Many alphabets", message: "Unicode from everywhere, please." },
  { label: "A connection to cut", message: "Slow and steady, please, while I cut the connection." },
  { label: "Out of tokens", message: "Length without limit, please." },
  { label: "A failure", message: "Error, please: I want to see one." },
  { label: "What else?", message: "What can you do?" },
];

export function fits({ by }: Script, protocol: Protocol): boolean {
  return by === undefined || by.includes(protocol);
}
