// The turns of the conversation, newest at the bottom.

import { useEffect, useState, type ReactNode } from "react";
import { Icon } from "../ui/Icon";
import type { ConversationState, ShownTurn } from "./ConversationState";
import { TurnView } from "./TurnView";
import { TurnInput } from "./UserBubble";
import { useStickToBottom } from "../ui/useStickToBottom";

/** The number of turns shown at first; earlier ones are shown on demand. */
const SHOWN = 20;

interface Props {
  state: ConversationState;
  /** Shown when there is no turn. */
  children: ReactNode;
}

export function Transcript({ state, children }: Props) {
  const { turns, opening, running } = state;
  const empty = turns.length === 0 && opening === null;
  const { scroller, content, atEnd, toEnd } = useStickToBottom(!empty);
  const [shown, setShown] = useState(SHOWN);
  const newest: ShownTurn | undefined = turns.at(-1);
  // The reader has started the new turn: scroll to it.
  useEffect(() => {
    if (newest || opening) toEnd();
  }, [newest, opening, toEnd]);

  const from = Math.max(0, turns.length - shown);
  return (
    <div className="transcript">
      {/* New text is not read out token by token: `Announcer` says what matters. */}
      <div
        className="scroller"
        ref={scroller}
        role="log"
        aria-live="off"
        aria-label="Conversation"
        aria-busy={running}
        tabIndex={0}
      >
        <div className={empty ? "column empty" : "column"} ref={content}>
          {from > 0 && (
            <button type="button" className="quiet earlier" onClick={() => setShown(shown + SHOWN)}>
              Show {Math.min(SHOWN, from)} earlier turns
            </button>
          )}
          {turns.slice(from).map((turn, index) => (
            <TurnView
              key={keyOf(turn)}
              turn={turn}
              last={turn === newest}
              continued={isAnswer(turns[from + index + 1])}
            />
          ))}
          {opening && (
            <article className="turn">
              <TurnInput input={opening} />
            </article>
          )}
          {children}
        </div>
      </div>
      {!atEnd && (
        <button type="button" className="to-end" onClick={toEnd} aria-label="Scroll to the newest text">
          <Icon name="down" />
        </button>
      )}
    </div>
  );
}

/** Whether the turn continues the one before it, by answering its calls. */
function isAnswer(turn: ShownTurn | undefined): boolean {
  return turn !== undefined && !turn.input.some(({ type }) => type === "user.message");
}

/** A turn gets its id only when it has started; the component must stay the same. */
function keyOf(turn: ShownTurn): number {
  const key = keys.get(turn) ?? (lastKey += 1);
  keys.set(turn, key);
  return key;
}
const keys = new WeakMap<ShownTurn, number>();
let lastKey = 0;
