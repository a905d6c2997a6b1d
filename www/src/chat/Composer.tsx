// The message field. Enter sends, Shift+Enter inserts a line break; add files by button, paste or drop.

import { useEffect, useRef, useState, type ClipboardEvent, type DragEvent, type KeyboardEvent } from "react";
import type { TurnInputItem } from "turnwire";
import { CutButton } from "../connection/CutButton";
import { Icon } from "../ui/Icon";
import { formatSize, isTaken, readAttachment, userMessage, type Attachment } from "./attachments";

interface Props {
  running: boolean;
  /** Why nothing can be sent now; null when it can. */
  blocked: string | null;
  /** The file types that the server accepts in messages, in the form of `accept`; null if it accepts none. */
  accept: string | null;
  onSend: (message: TurnInputItem) => void;
  /** Sends a message to the running agent; null if it accepts none meanwhile. */
  onSteer: ((message: TurnInputItem) => Promise<void>) | null;
  /** Sends although the agent waits for answers, and discards its questions; null if that is not possible. */
  onDiscard: ((message: TurnInputItem) => void) | null;
  onStop: () => void;
  /** Cuts the connection that carries the answer; null if there is none, or no way to cut it. */
  onCut: (() => void) | null;
  /** What the person will see then. */
  cutTitle: string;
}

export function Composer(props: Props) {
  const { running, blocked, accept, onSend, onSteer, onDiscard, onStop, onCut, cutTitle } = props;
  const [text, setText] = useState("");
  const [files, setFiles] = useState<readonly Attachment[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  /** The message is being sent to the running agent. */
  const [saying, setSaying] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const filled = text.trim() !== "" || files.length > 0;
  const steers = running && onSteer !== null;
  const ready = (!running || steers) && blocked === null && filled && !saying;

  useEffect(() => focusField(field.current), []);

  const clear = () => {
    setText("");
    setFiles([]);
    setProblem(null);
    field.current?.focus();
  };
  const give = (take: (message: TurnInputItem) => void) => {
    take(userMessage(text.trim(), files));
    clear();
  };
  const send = () => {
    if (!ready) return;
    if (!steers) return give(onSend);
    // If the agent did not accept the message, it stays, to be sent after the turn.
    setSaying(true);
    const said = onSteer(userMessage(text.trim(), files)).then(clear, (error: unknown) => setProblem(messageOf(error)));
    void said.finally(() => setSaying(false));
  };
  const attach = async (list: Iterable<File>) => {
    if (accept === null) return setProblem("This server accepts no files.");
    const chosen = Array.from(list);
    const wrong = chosen.find((file) => !isTaken(accept, file));
    if (wrong) return setProblem(`${wrong.name} is no image, and this server takes images only.`);
    try {
      const read = await Promise.all(chosen.map(readAttachment));
      setFiles((before) => [...before, ...read]);
      setProblem(null);
    } catch (error) {
      setProblem(messageOf(error));
    }
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  const onPaste = (event: ClipboardEvent) => {
    if (event.clipboardData.files.length === 0) return;
    event.preventDefault();
    void attach(event.clipboardData.files);
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    void attach(event.dataTransfer.files);
  };

  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={onDrop}
    >
      {problem && (
        <p className="inline-error" role="alert">
          {problem}
        </p>
      )}
      {onDiscard && filled && !running && (
        <p className="discard">
          <span>If you send this now, it replaces the answer: the agent’s question is dropped.</span>
          <button type="button" className="small" onClick={() => give(onDiscard)}>
            Send anyway
          </button>
        </p>
      )}
      {files.length > 0 && (
        <Chips files={files} onRemove={(file) => setFiles(files.filter((other) => other !== file))} />
      )}
      <div className="composer-row">
        {accept !== null && (
          <>
            <input
              ref={picker}
              type="file"
              multiple
              hidden
              accept={accept}
              onChange={(event) => void attach(event.target.files ?? [])}
              onClick={(event) => (event.currentTarget.value = "")}
            />
            <button
              type="button"
              className="quiet round"
              onClick={() => picker.current?.click()}
              aria-label={attachWords(accept)}
              title={attachWords(accept)}
            >
              <Icon name="attach" />
            </button>
          </>
        )}
        <textarea
          ref={field}
          rows={1}
          value={text}
          aria-label="Message"
          placeholder={blocked ?? (steers ? "Send another message to the running agent" : "Write to the agent")}
          readOnly={saying}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
        {onCut && <CutButton title={cutTitle} onCut={onCut} onFocusLost={() => focusField(field.current)} />}
        {running && !(steers && ready) ? (
          <button
            type="button"
            className="primary round"
            onClick={onStop}
            aria-label="Stop (Escape)"
            title="Stop (Escape)"
          >
            <Icon name="stop" className="solid" />
          </button>
        ) : (
          <button type="submit" className="primary round" disabled={!ready} aria-label="Send" title="Send (Enter)">
            <Icon name="send" />
          </button>
        )}
      </div>
    </form>
  );
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const attachWords = (accept: string): string => (accept === "" ? "Attach files" : "Attach images");

/** Without a keyboard, the focus would open one over half of the page. */
function focusField(field: HTMLTextAreaElement | null): void {
  if (window.matchMedia("(pointer: fine)").matches) field?.focus({ preventScroll: true });
}

function Chips({ files, onRemove }: { files: readonly Attachment[]; onRemove: (file: Attachment) => void }) {
  return (
    <ul className="chips">
      {files.map((file, index) => (
        <li key={index} className="chip">
          <Icon name="file" /> <span className="chip-name">{file.name}</span>
          <span className="faint">{formatSize(file.size)}</span>
          <button
            type="button"
            className="quiet small"
            onClick={() => onRemove(file)}
            aria-label={`Remove ${file.name}`}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}
