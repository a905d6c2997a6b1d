// A call of a tool: its name, its arguments as they arrive, what it gave back, and the approval it may need.

import { memo, useState } from "react";
import type { ToolCallSnapshot } from "turnwire";
import { Icon } from "../ui/Icon";
import { ApprovalForm } from "./ApprovalForm";
import type { AnswerState } from "./answers";
import { useAnswer, useIsPending, useLateResponse } from "./context";
import { JsonPrinter, PRINT_LIMIT, summarise } from "./prettyJson";
import { ResponseForm } from "./ResponseForm";
import { StatusMark, type Mark } from "./StatusMark";

interface Props {
  call: ToolCallSnapshot;
  name: string;
  /** The thread that made the call goes on. */
  live: boolean;
}

export const ToolCard = memo(function ToolCard({ call, name, live }: Props) {
  const answer = useAnswer(call.id);
  const pending = useIsPending(call.id);
  const late = useLateResponse(call.id);
  const result = call.response?.content ?? late ?? null;
  // Who sees the arguments arrive keeps the card open; a finished call starts closed.
  const [open, setOpen] = useState(call.status !== "done" && !answer?.sent);
  const { mark, words } = statusOf(call, answer, result !== null, live);
  return (
    <section className={`card tool${pending && !answer ? " waits" : ""}`} aria-label={`Tool ${name}, ${words}`}>
      <button type="button" className="card-head" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={call.status === "approval_required" ? "shield" : "tool"} />
        <span className="card-name">{name}</span>
        {call.tool_info?.type === "mcp" && <span className="badge">{call.tool_info.server_name}</span>}
        <span className="card-summary">{open ? "" : summarise(call.arguments)}</span>
        <StatusMark mark={mark} words={words} />
        <Icon name="chevron" className="turning" />
      </button>
      {open && (
        <div className="card-body">
          <Arguments source={call.arguments} />
          {result !== null && result !== "" && <Result content={result} />}
        </div>
      )}
      {call.status === "approval_required" && (pending || answer) && (
        <ApprovalForm callId={call.id} state={answer} name={name} />
      )}
      {call.status === "response_required" && (pending || answer) && <ResponseForm callId={call.id} state={answer} />}
    </section>
  );
});

interface Status {
  readonly mark: Mark;
  readonly words: string;
}

function statusOf(call: ToolCallSnapshot, answer: AnswerState | undefined, hasResult: boolean, live: boolean): Status {
  if (answer?.answer.kind === "deny") return { mark: "failed", words: "denied" };
  if (hasResult || call.status === "done") return { mark: "done", words: "done" };
  switch (call.status) {
    case "streaming":
      return live ? { mark: "working", words: "preparing" } : { mark: "failed", words: "cut off" };
    case "approval_required":
      return answer?.sent ? { mark: "working", words: "allowed" } : { mark: "waiting", words: "asks you" };
    case "response_required":
      return answer?.sent ? { mark: "done", words: "answered" } : { mark: "waiting", words: "asks you" };
    case "running":
      // Calls that need no answer wait for those that do.
      return live ? { mark: "working", words: "running" } : { mark: "waiting", words: "waits" };
  }
}

const Arguments = memo(function Arguments({ source }: { source: string }) {
  const [printer] = useState(() => new JsonPrinter());
  const text = printer.print(source);
  if (text === "" || text === "{}") return <p className="faint">No arguments</p>;
  return (
    <figure className="data">
      <figcaption>Arguments</figcaption>
      <pre tabIndex={0}>{text}</pre>
      {printer.hidden > 0 && <More count={printer.hidden} />}
    </figure>
  );
});

const Result = memo(function Result({ content }: { content: string }) {
  const text = /^\s*[[{]/.test(content) ? new JsonPrinter().print(content) : content.slice(0, PRINT_LIMIT);
  return (
    <figure className="data">
      <figcaption>Result</figcaption>
      <pre tabIndex={0}>{text}</pre>
      {content.length > PRINT_LIMIT && <More count={content.length - PRINT_LIMIT} />}
    </figure>
  );
});

function More({ count }: { count: number }) {
  return <p className="faint">… and about {count.toLocaleString()} more characters</p>;
}
