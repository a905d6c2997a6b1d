// A sub-agent's thread, nested where it was started. Its text scrolls in a frame of its own, so that several that
// write at once do not push each other around.

import { memo, useState } from "react";
import type { ThreadSnapshot } from "turnwire";
import { Icon } from "../ui/Icon";
import { useConversation, useIsLastTurn } from "./context";
import { StatusMark, type Mark } from "./StatusMark";
import { ThreadMessages } from "./ThreadMessages";

interface Props {
  thread: ThreadSnapshot;
  /** The turn or the call around it goes on. */
  live: boolean;
}

export const SubAgentCard = memo(function SubAgentCard({ thread, live }: Props) {
  const running = thread.status === "running" && live;
  // Who watches it work keeps it open; what was loaded from history starts closed.
  const [open, setOpen] = useState(running);
  const last = useIsLastTurn();
  const state = stateOf(thread, running, last);
  const conversation = useConversation();
  const title = thread.title ?? thread.agent_info?.name ?? conversation.titleOf(thread.id) ?? "Sub-agent";
  return (
    <section className="card sub-agent" aria-label={`Sub-agent ${title}, ${state.words}`}>
      <button type="button" className="card-head" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name="agent" />
        <span className="card-name">{title}</span>
        <span className="card-summary">{thread.agent_info?.input}</span>
        <StatusMark mark={state.mark} words={state.words} />
        <Icon name="chevron" className="turning" />
      </button>
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
    </section>
  );
});

function stateOf(thread: ThreadSnapshot, running: boolean, last: boolean): { mark: Mark; words: string } {
  if (thread.status === "done") return { mark: "done", words: "done" };
  if (thread.status === "error") return { mark: "failed", words: "failed" };
  if (running) return { mark: "working", words: "working" };
  // Its turn has ended before it: it waits for an answer, or had one and went on in the next turn.
  return last ? { mark: "waiting", words: "waits" } : { mark: "done", words: "continued below" };
}
