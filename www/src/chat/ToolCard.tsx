// A tool call: its name, its arguments as they arrive, its result, and the answer that it may need.

import { memo, useMemo, useState } from "react";
import type { Call } from "turnwire/conversation";
import { usePending, useReadable, useStatus } from "turnwire/react";
import { RUNNING } from "../tools/pageTools";
import { Icon } from "../ui/Icon";
import { CallForm } from "./CallForm";
import { pageResultOf, pageStatusOf, resultOf, statusOf } from "./callStatus";
import { useChat, useTurnEnd } from "./chat";
import { DataView } from "./DataView";
import { outputOf } from "./news";
import { OutputView } from "./OutputView";
import { JsonPrinter, summarise } from "./prettyJson";
import { ProgressLine } from "./ProgressLine";
import { StatusMark } from "./StatusMark";
import { startedBy } from "./subAgentNames";

interface Props {
  call: Call;
  name: string;
  /** The thread that made the call is still running. */
  live: boolean;
}

export const ToolCard = memo(function ToolCard({ call, name, live }: Props) {
  const { answer, response, argumentsText } = call;
  const pending = call.pending !== null;
  const own = usePageCall(call);
  // The card stays open if the reader saw the arguments arrive; a finished call starts closed.
  const [open, setOpen] = useState(call.status !== "done" && !answer?.sent);
  const ended = useTurnEnd();
  const toolRecords = useReadable(useChat().info).capabilities?.toolRecords;
  const { mark, words } = own
    ? pageStatusOf(call, { ...own, live, ended })
    : statusOf(call, { answer, response, pending, live, ended });
  const result = own ? { text: own.content ?? "", remark: own.held ? HELD : "" } : response && resultOf(response, toolRecords);
  // The result has all of it.
  const output = response === null ? outputOf(call) : [];
  const agent = useMemo(() => startedBy(call, name), [call, name]);
  // The server reports only the progress of a call inside another one.
  const isOpaque = argumentsText === "" && call.progress !== undefined;
  return (
    <section
      role="group"
      className={`card ${agent ? "sub-agent" : "tool"}${pending && !answer ? " waits" : ""}`}
      aria-label={`${agent ? `Sub-agent ${agent.title}` : `Tool ${name}`}, ${words}`}
    >
      <button type="button" className="card-head" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={call.status === "approval_required" ? "shield" : agent ? "agent" : "tool"} />
        <span className="card-name">{agent?.title ?? name}</span>
        {call.tool_info?.type === "mcp" && <span className="badge">{call.tool_info.server_name}</span>}
        {own && (
          <span className="badge" title="This tool runs here in the page, not at the server">
            this page
          </span>
        )}
        <span className="card-summary">{agent ? agent.task : open ? "" : summarise(argumentsText)}</span>
        <StatusMark mark={mark} words={words} />
        <Icon name="chevron" className="turning" />
      </button>
      {mark === "working" && call.progress && <ProgressLine progress={call.progress} />}
      {open && (!isOpaque || result) && (
        <div className="card-body">
          {!isOpaque && <Arguments source={argumentsText} />}
          {output.map(({ name, text }) => (
            <OutputView key={name} caption={name} text={text} />
          ))}
          {result?.text && <DataView caption="Result" content={result.text} />}
          {result?.remark && <p className="faint">{result.remark}</p>}
        </div>
      )}
      {!own && <CallForm call={call} name={name} />}
    </section>
  );
});

/** The state of a call of one of the page's own tools; null for other tools. */
function usePageCall({ name, tool_info, answer, response }: Call) {
  const conversation = useChat();
  const { capabilities } = useReadable(conversation.info);
  const asks = usePending(conversation).length > 0;
  const { canProceed: halted } = useStatus(conversation);
  if (!capabilities?.pageTools || !RUNNING.includes(name) || tool_info?.type === "mcp") return null;
  const given = answer?.answer.kind === "text" ? answer.answer.content : undefined;
  const content = given ?? (response ? pageResultOf(response) : undefined);
  return { content, held: answer?.sent === false && asks, halted };
}

const HELD = "The agent gets this together with your answer.";

const Arguments = memo(function Arguments({ source }: { source: string }) {
  const [printer] = useState(() => new JsonPrinter());
  const text = printer.print(source);
  if (text === "" || text === "{}") return <p className="faint">No arguments</p>;
  return <DataView caption="Arguments" content={text} hidden={printer.hidden} />;
});
