// The long text of AgentEvent's streams: a run ends with its last message again, as its result.
import { Elision } from "./elision.js";

interface Result {
  readonly response?: string;
}

/** The end of a run in the form of tirea and awaken. */
interface RunFinish {
  readonly type?: string;
  readonly event_type?: string;
  readonly data?: { readonly result?: Result };
  readonly result?: Result;
}

const END = "run_finish";

/** Leaves it out. */
export class RunElision extends Elision<RunFinish> {
  protected readonly kinds = /run_finish/;

  protected override textIn({ type, event_type, data, result = data?.result }: RunFinish): unknown {
    return (type ?? event_type) === END && result?.response;
  }
}
