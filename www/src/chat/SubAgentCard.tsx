// A sub-agent's thread, nested where it was started. It scrolls in its own frame, so that several running sub-agents do
// not move each other around.

import { memo, useState } from "react";
import type { ThreadSnapshot, ToolCallSnapshot } from "turnwire";
import { Icon } from "../ui/Icon";
import { CallForm } from "./CallForm";
import type { Status } from "./callStatus";
import { useAnswer, useAsksInside, useConversation, useIsLastTurn, usePendingAction } from "./context";
import { callIn, threadTitleIn } from "./earlier";
import { ProgressLine } from "./ProgressLine";
import { StatusMark } from "./StatusMark";
import { subAgentNames } from "./subAgentNames";
import { ThreadMessages } from "./ThreadMessages";

interface Props {
  thread: ThreadSnapshot;
  /** The call that started it, if it was made in the same turn. */
  call?: ToolCallSnapshot;
  /** The turn or the call around it is still running. */
  live: boolean;
}

export const SubAgentCard = memo(function SubAgentCard({ thread, call, live }: Props) {
  const running = thread.status === "running" && live;
  // A thread that the reader watched stays open. One from the history starts closed, unless it contains a question.
  const [watched] = useState(running);
  const [chosen, setChosen] = useState<boolean | null>(null);
  const asksInside = useAsksInside(thread.id);
  const open = chosen ?? (watched || asksInside);
  const last = useIsLastTurn();
  const callId = call?.id ?? "";
  const answer = useAnswer(callId);
  const waits = usePendingAction(callId) !== undefined && !answer;
  const state = stateOf(thread, { running, last, waits });
  const { turns } = useConversation().state();
  const starter = call ?? callIn(turns, thread.parent?.tool_call_id);
  const { title, task } = subAgentNames(thread, starter, threadTitleIn(turns, thread.id));
  return (
    <section className={`card sub-agent${waits ? " waits" : ""}`} aria-label={`Sub-agent ${title}, ${state.words}`}>
      <button type="button" className="card-head" aria-expanded={open} onClick={() => setChosen(!open)}>
        <Icon name="agent" />
        <span className="card-name">{title}</span>
        <span className="card-summary">{task}</span>
        <StatusMark mark={state.mark} words={state.words} />
        <Icon name="chevron" className="turning" />
      </button>
      {state.mark === "working" && call?.progress && <ProgressLine progress={call.progress} />}
      {open && (
        <div className="sub-agent-text" tabIndex={0} role="group" aria-label={`What ${title} did`}>
          <div>
            <ThreadMessages messages={thread.messages} live={running} />
            {thread.error !== null && (
              <p className="inline-error">
                <Icon name="warn" /> {thread.error}
              </p>
            )}
          </div>
        </div>
      )}
      {call && <CallForm call={call} name={title} />}
    </section>
  );
});

interface Moment {
  readonly running: boolean;
  readonly last: boolean;
  readonly waits: boolean;
}

function stateOf(thread: ThreadSnapshot, { running, last, waits }: Moment): Status {
  if (thread.status === "done") return { mark: "done", words: "done" };
  if (thread.status === "error") return { mark: "failed", words: "failed" };
  if (waits) return { mark: "waiting", words: "asks you" };
  if (running) return { mark: "working", words: "working" };
  // Its turn has ended before it: it waits for an answer, or had one and continued in the next turn.
  return last ? { mark: "waiting", words: "waits" } : { mark: "done", words: "continued below" };
}
