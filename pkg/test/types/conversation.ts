// The types of conversations: what a page switches over is exhaustive, and options may be passed on as they are.
import type { Client, StateError } from "turnwire";
import { type Answer, type Call, type Conversation, Conversations, type Dehydrated, fileParts, load, type Message, type Part, type Phase, type Queued, type Readable, type Row, type SendOptions } from "turnwire/conversation";

/** The type that is left when all cases are handled. */
function left(nothing: never): never {
  throw new Error(String(nothing));
}

export function phaseOf(phase: Phase): string {
  switch (phase) {
    case "idle":
    case "loading":
    case "sending":
    case "thinking":
    case "answering":
    case "working":
    case "waiting":
    case "stopping":
    case "reconnecting":
    case "failed":
      return phase;
    default:
      return left(phase);
  }
}

export function rowOf({ role, key }: Row): string {
  switch (role) {
    case "user":
    case "assistant":
    case "end":
      return key;
    default:
      return left(role);
  }
}

export function partOf(part: Part): string {
  switch (part.type) {
    case "text":
    case "reasoning":
    case "refusal":
      return part.text;
    case "file":
      return part.content.type;
    case "call":
      return callOf(part.call);
    default:
      return left(part);
  }
}

export function callOf({ name, arguments: given, argumentsText, pending, answer }: Call): string {
  const city = typeof given === "object" && given !== null && "city" in given ? String(given.city) : argumentsText;
  return `${name} ${city} ${pending?.type} ${answer?.sent}`;
}

export function messageOf(message: Message): string {
  const parts = message.parts.map(partOf).join(" ");
  switch (message.role) {
    case "user":
      return `${message.delivery} ${parts}`;
    case "assistant":
      return `${message.finish_reason} ${parts}`;
    case "end":
      return `${message.status} ${message.error?.code} ${message.canRetry}`;
    default:
      return left(message);
  }
}

/** What is read more often, and less deeply. */
export function parts(chat: Conversation, client: Client, whenBusy: SendOptions["whenBusy"]): unknown[] {
  const phase: Readable<Phase> = chat.select(({ status }) => status.phase);
  const first: Queued | undefined = chat.queue.get()[0];
  const answers: Answer[] = [{ kind: "allow", remember: true }, { kind: "allow", result: { editedArgs: {} } }, { kind: "deny", reason: "no", cancel: true }, { kind: "text", content: "yes" }];
  const key: string = chat.send("Hello", { whenBusy, discardPending: undefined, turnOptions: undefined });
  const again = new Conversations({ client, agentName: "support", tools: undefined, whenBusy, kept: undefined, store: null });
  const read: Promise<Dehydrated> = load(client, "s1", { page: undefined, signal: undefined });
  chat.on("error", (error) => error.code === "unsupported" && (error satisfies Error));
  chat.on("turn", ({ id }) => id);
  const dispose: () => void = chat.attach();
  const release: () => void = chat.bindForm(null);
  const asks: ("approval" | "text" | "signIn" | null)[] = chat.pending.get().map(({ asks }) => asks);
  chat.setDraft("Hello");
  chat.submit();
  chat.allow(key, { remember: true });
  chat.deny(key);
  return [release, asks, phase, first, answers, key, again, read, dispose, fileParts([], { types: "image/*" }), chat.stop, null as StateError | null];
}

// @ts-expect-error: there is no such word
export const wrong = (chat: Conversation): string => chat.send("Hello", { whenBusy: "later" });
// @ts-expect-error: nor such an answer
export const neither = (chat: Conversation): void => chat.answer("key", { kind: "maybe" });
