// The long text of AgentEvent's streams: at the end of a run its last message once more, as its result.
import type { ModelMessage, TerminalState } from "../wire/events.js";
import { Elision } from "./elision.js";

/** The end of a run in the form of tirea and awaken. */
interface RunFinish {
  type?: string;
  event_type?: string;
  data?: { result?: { response?: string } };
  result?: { response?: string };
}

/** Leaves it out. */
export class RunElision extends Elision<RunFinish> {
  protected readonly end = "run_finish";

  override complete(state: TerminalState | undefined): void {
    super.complete(state);
    if (this.output && state?.status === "done") state.result = { ...(state.result as object), response: this.output.content };
  }

  protected override spare({ type, event_type, data, result = data?.result }: RunFinish): boolean {
    const message = this.lastMessage();
    const isKnown = (type ?? event_type) === "run_finish" && !!result?.response && result.response === message?.content;
    if (isKnown) {
      const { id, thread_id, content } = message!;
      this.output = { type: "model.message", id, thread_id, content, finish_reason: "stop" } as ModelMessage;
      result!.response = "";
    }
    return isKnown;
  }
}
