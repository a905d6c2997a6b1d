// The agent's state as its server shows it. Closed at first.

import { memo, useMemo, useState } from "react";
import { Icon } from "../ui/Icon";
import { agentStateOf } from "./agentState";
import { DataView } from "./DataView";

interface Props {
  state: unknown;
  /** Why its last change could not be applied. */
  problem: string | null;
}

export const AgentState = memo(function AgentState({ state, problem }: Props) {
  const shown = useMemo(() => agentStateOf(state), [state]);
  const [open, setOpen] = useState(false);
  if (shown === null) return null;
  return (
    <section className="agent-state">
      <button type="button" className="disclosure" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name="box" />
        <span>Agent state</span>
        <Icon name="chevron" className="turning" />
      </button>
      {open && (
        <DataView caption={problem ? `As of before: ${problem}` : "As of now"} content={JSON.stringify(shown)} />
      )}
    </section>
  );
});
