// A call of a tool: its name, its arguments as they arrive, what it gave back, and the answer that it may need.

import { memo, useMemo, useState } from "react";
import type { ToolCallSnapshot } from "turnwire";
import { Icon } from "../ui/Icon";
import { CallForm } from "./CallForm";
import { resultOf, statusOf } from "./callStatus";
import { useAnswer, useLateResponse, usePendingAction, useTurnEnd } from "./context";
import { DataView } from "./DataView";
import { JsonPrinter, summarise } from "./prettyJson";
import { ProgressLine } from "./ProgressLine";
import { StatusMark } from "./StatusMark";
import { startedBy } from "./subAgentNames";

interface Props {
  call: ToolCallSnapshot;
  name: string;
  /** The thread that made the call goes on. */
  live: boolean;
}

export const ToolCard = memo(function ToolCard({ call, name, live }: Props) {
  const answer = useAnswer(call.id);
  const pending = usePendingAction(call.id) !== undefined;
  const late = useLateResponse(call.id);
  const response = call.response ?? late ?? null;
  // Who sees the arguments arrive keeps the card open; a finished call starts closed.
  const [open, setOpen] = useState(call.status !== "done" && !answer?.sent);
  const { mark, words } = statusOf(call, { answer, response, pending, live, ended: useTurnEnd() });
  const result = response && resultOf(response);
  const agent = useMemo(() => startedBy(call, name), [call, name]);
  // Of a call inside of another one, the server tells only its progress.
  const isOpaque = call.arguments === "" && call.progress !== undefined;
  return (
    <section
      className={`card ${agent ? "sub-agent" : "tool"}${pending && !answer ? " waits" : ""}`}
      aria-label={`${agent ? `Sub-agent ${agent.title}` : `Tool ${name}`}, ${words}`}
    >
      <button type="button" className="card-head" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={call.status === "approval_required" ? "shield" : agent ? "agent" : "tool"} />
        <span className="card-name">{agent?.title ?? name}</span>
        {call.tool_info?.type === "mcp" && <span className="badge">{call.tool_info.server_name}</span>}
        <span className="card-summary">{agent ? agent.task : open ? "" : summarise(call.arguments)}</span>
        <StatusMark mark={mark} words={words} />
        <Icon name="chevron" className="turning" />
      </button>
      {mark === "working" && call.progress && <ProgressLine progress={call.progress} />}
      {open && (!isOpaque || result) && (
        <div className="card-body">
          {!isOpaque && <Arguments source={call.arguments} />}
          {result?.text && <DataView caption="Result" content={result.text} />}
          {result?.remark && <p className="faint">{result.remark}</p>}
        </div>
      )}
      <CallForm call={call} name={name} />
    </section>
  );
});

const Arguments = memo(function Arguments({ source }: { source: string }) {
  const [printer] = useState(() => new JsonPrinter());
  const text = printer.print(source);
  if (text === "" || text === "{}") return <p className="faint">No arguments</p>;
  return <DataView caption="Arguments" content={text} hidden={printer.hidden} />;
});
