// A sub-agent's thread, nested where it was started. It scrolls in its own frame, so that several running sub-agents do
// not move each other around.

import { memo, useCallback, useContext, useState } from "react";
import type { Call, Pending, Thread } from "turnwire/conversation";
import { useReadable } from "turnwire/react";
import { Icon } from "../ui/Icon";
import { useSelected } from "../ui/useSelected";
import { CallForm } from "./CallForm";
import type { Status } from "./callStatus";
import { TurnContext, useChat, useIsBusy, useIsContinued } from "./chat";
import { MessageView } from "./MessageView";
import { ProgressLine } from "./ProgressLine";
import { StatusMark } from "./StatusMark";
import { subAgentNames } from "./subAgentNames";

interface Props {
  thread: Thread;
  /** The call that started it, if it is known. */
  call?: Call;
}

export const SubAgentCard = memo(function SubAgentCard({ thread, call }: Props) {
  const place = usePlace(thread);
  const running = thread.status === "running" && place === "running";
  // A thread that the reader watched stays open. One from the history starts closed, unless it contains a question.
  const [watched] = useState(running);
  const [chosen, setChosen] = useState<boolean | null>(null);
  const asksInside = useAsksInside(thread.key);
  const open = chosen ?? (watched || asksInside);
  const waits = call !== undefined && call.pending !== null && call.answer === null;
  const state = stateOf(thread, waits, place);
  const { title, task } = subAgentNames(thread, call);
  return (
    <section role="group" className={`card sub-agent${waits ? " waits" : ""}`} aria-label={`Sub-agent ${title}, ${state.words}`}>
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
            {thread.rows.map(({ key }) => (
              <MessageView key={key} row={key} live={running} />
            ))}
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

/** Whether a thread without an end is in the turn that runs, in the one that waits, or in an earlier one. */
type Place = "running" | "paused" | "left";

function usePlace({ rows }: Thread): Place {
  const turns = useReadable(useChat().turns);
  const busy = useIsBusy();
  const continued = useIsContinued();
  const own = useContext(TurnContext);
  const turn = rows.at(-1)?.turn ?? own;
  if (turn === turns.at(-1)) return busy ? "running" : "paused";
  // A turn that continues the one before may have nothing of the thread yet.
  return busy && continued && turn === turns.at(-2) ? "running" : "left";
}

/** Whether the agent waits for an answer in that thread. */
function useAsksInside(thread: string): boolean {
  const asks = useCallback(
    (pending: readonly Pending[]) => pending.some(({ action }) => "thread_id" in action && action.thread_id === thread),
    [thread],
  );
  return useSelected(useChat().pending, asks);
}

function stateOf({ status }: Thread, waits: boolean, place: Place): Status {
  if (status === "done") return { mark: "done", words: "done" };
  if (status === "error") return { mark: "failed", words: "failed" };
  if (waits) return { mark: "waiting", words: "asks you" };
  if (place === "running") return { mark: "working", words: "working" };
  return place === "paused" ? { mark: "waiting", words: "waits" } : { mark: "done", words: "continued below" };
}
