// A message of the person with its files, and what can be done with it.

import { memo, useContext, useState } from "react";
import type { UserMessage } from "turnwire/conversation";
import { useMessage, useReadable } from "turnwire/react";
import type { ContentPart } from "turnwire";
import { Icon } from "../ui/Icon";
import { contentsOf, filesIn, sizeWords, textIn, userMessage } from "./attachments";
import { BranchPicker } from "./BranchPicker";
import { FocusContext, useChat, useIsBusy } from "./chat";
import { MessageEditor } from "./MessageEditor";

export const UserRow = memo(function UserRow({ row }: { row: string }) {
  const message = useMessage(useChat(), row);
  return message?.role === "user" ? <Said message={message} /> : null;
});

function Said({ message }: { message: UserMessage }) {
  const conversation = useChat();
  const { capabilities } = useReadable(conversation.info);
  const busy = useIsBusy();
  const toField = useContext(FocusContext);
  const [editing, setEditing] = useState(false);
  /** The button that was left by its own editor has the focus again. */
  const [left, setLeft] = useState(false);
  const { key, content, branch, steered, delivery } = message;
  const canEdit = !busy && !steered && (delivery === "failed" || (delivery === "sent" && capabilities?.fork === true));
  const files = filesIn(content);
  const edit = (text: string) => {
    setEditing(false);
    toField();
    conversation.edit(key, userMessage(text, files));
  };
  if (editing && canEdit) {
    return (
      <div className="said editing">
        <MessageEditor
          label="Edit the message"
          text={textIn(content)}
          action="Send"
          optional={files.length > 0}
          onTake={edit}
          onCancel={() => {
            setEditing(false);
            setLeft(true);
          }}
        />
      </div>
    );
  }
  return (
    <div className="said">
      <Bubble parts={content} />
      {(canEdit || branch || steered) && (
        <div className="said-bar">
          {steered && <span>sent while the agent worked</span>}
          {branch && <BranchPicker branch={branch} />}
          {canEdit && (
            <button type="button" className="quiet small" autoFocus={left} onClick={() => setEditing(true)}>
              <Icon name="edit" /> Edit
            </button>
          )}
        </div>
      )}
    </div>
  );
}

export function Bubble({ parts }: { parts: readonly ContentPart[] }) {
  const { texts, files } = contentsOf(parts);
  return (
    <div className="bubble">
      <span className="visually-hidden">You said: </span>
      {texts.map((text, index) => (
        <p key={index}>{text}</p>
      ))}
      {files.length > 0 && (
        <ul className="chips">
          {files.map((file, index) => (
            <li key={index} className="chip">
              {file.data.startsWith("data:image/") ? <img src={file.data} alt="" /> : <Icon name="file" />}{" "}
              <span className="chip-name">{file.name}</span>
              <span className="faint">{sizeWords(file)}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
