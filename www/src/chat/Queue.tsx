// The messages that wait until they can be sent, and what can be done with them.

import { useContext, useState } from "react";
import type { Queued, Status } from "turnwire/conversation";
import { useQueue } from "turnwire/react";
import { Icon } from "../ui/Icon";
import { contentsOf, filesIn, partsIn, textIn, userMessage } from "./attachments";
import { FocusContext, isBusy, useChat } from "./chat";
import { MessageEditor } from "./MessageEditor";

interface Props {
  status: Status;
}

export function Queue({ status }: Props) {
  const toField = useContext(FocusContext);
  const { queue } = useChat();
  const items = useQueue(useChat());
  if (items.length === 0) return null;
  const release = () => {
    queue.hold(false);
    toField();
  };
  return (
    <section className="queue" aria-label="Waiting messages">
      <ul>
        {items.map((item) => (
          <QueueItem key={item.key} item={item} status={status} />
        ))}
      </ul>
      {status.heldQueue && (
        <p className="queue-held">
          <span>They wait until you send them.</span>
          <button type="button" className="small" onClick={release}>
            Send all
          </button>
        </p>
      )}
    </section>
  );
}

function QueueItem({ item, status }: Props & { item: Queued }) {
  const toField = useContext(FocusContext);
  const { queue } = useChat();
  const [editing, setEditing] = useState(false);
  const parts = partsIn(item.input);
  const files = filesIn(parts);
  const isOnItsWay = item.how === "steer" && item.state !== "held";
  const act = (action: (key: string) => unknown) => () => {
    action(item.key);
    toField();
  };
  if (editing && !isOnItsWay) {
    const change = (text: string) => {
      queue.edit(item.key, userMessage(text, files));
      setEditing(false);
      toField();
    };
    return (
      <li>
        <MessageEditor
          label="Edit the waiting message"
          text={textIn(parts)}
          action="Save"
          optional={files.length > 0}
          onTake={change}
          onCancel={() => {
            setEditing(false);
            toField();
          }}
        />
      </li>
    );
  }
  return (
    <li className="queued">
      <span className="queued-text">
        <span className="faint">{wordOf(item)}: </span>
        {summary(item)}
      </span>
      {!isOnItsWay && (
        <span className="queued-actions">
          {status.canSteer && (
            <button type="button" className="quiet small" onClick={act(queue.steer)}>
              Steer
            </button>
          )}
          <button
            type="button"
            className="quiet small"
            disabled={status.phase === "waiting" && !isBusy(status)}
            title={isBusy(status) ? "Stops what runs, and sends this message" : "Sends this message"}
            onClick={act(queue.sendNow)}
          >
            Send now
          </button>
          <button type="button" className="quiet small" onClick={() => setEditing(true)} aria-label="Edit" title="Edit">
            <Icon name="edit" />
          </button>
          <button type="button" className="quiet small" onClick={act(queue.remove)} aria-label="Remove" title="Remove">
            <Icon name="close" />
          </button>
        </span>
      )}
    </li>
  );
}

function summary({ input }: Queued): string {
  const { texts, files } = contentsOf(partsIn(input));
  return [...texts, ...files.map(({ name }) => name)].join(" ");
}

function wordOf({ how, state }: Queued): string {
  if (state === "unknown") return "May have arrived";
  if (state === "held") return "Held";
  return how === "steer" ? "On its way" : "Next";
}
