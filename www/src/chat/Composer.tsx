// The message field. Enter sends, Shift+Enter inserts a line break; add files by button, paste or drop. What is written
// survives a reload.

import { useEffect, useRef, useState, type ClipboardEvent, type DragEvent, type KeyboardEvent, type RefObject } from "react";
import type { ContentPart } from "turnwire";
import { fileParts, type Status, type WhenBusy } from "turnwire/conversation";
import { useDraft } from "turnwire/react";
import { CutButton } from "../connection/CutButton";
import { Icon } from "../ui/Icon";
import { contentsOf, isTaken, sizeWords, userMessage } from "./attachments";
import { isBusy, useChat } from "./chat";

interface Props {
  field: RefObject<HTMLTextAreaElement | null>;
  status: Status;
  /** Why nothing can be sent now; null when it can. */
  blocked: string | null;
  /** The file types that the server accepts in messages, in the form of `accept`; null if it accepts none. */
  accept: string | null;
  /** A message can be sent although the agent waits for answers; its questions are discarded. */
  discards: boolean;
  /** Cuts the connection that carries the answer; null if there is none, or no way to cut it. */
  onCut: (() => void) | null;
  /** What the person will see then. */
  cutTitle: string;
}

export function Composer({ field, status, blocked, accept, discards, onCut, cutTitle }: Props) {
  const conversation = useChat();
  const { text, parts } = useDraft(conversation);
  const [problem, setProblem] = useState<string | null>(null);
  const picker = useRef<HTMLInputElement>(null);
  const running = isBusy(status);
  const steers = running && status.canSteer;
  const filled = text.trim() !== "" || parts.length > 0;
  const ready = blocked === null && filled;

  useEffect(() => focusField(field.current), [field]);
  // What else fails is shown where it belongs.
  useEffect(
    () => conversation.on("error", (error) => conversation.status.get().phase === "stopping" && setProblem(error.message)),
    [conversation],
  );

  const send = (whenBusy: WhenBusy, discardPending = false) => {
    try {
      conversation.send(userMessage(text.trim(), parts), { whenBusy, discardPending });
      conversation.setDraft({ text: "", parts: [] });
      setProblem(null);
    } catch (error) {
      setProblem(messageOf(error));
    }
    field.current?.focus();
  };
  const submit = () => {
    if (ready) send(steers ? "steer" : "queue");
  };
  const attach = async (list: Iterable<File>) => {
    if (accept === null) return setProblem("This server accepts no files.");
    const chosen = Array.from(list);
    const wrong = chosen.find((file) => !isTaken(accept, file));
    if (wrong) return setProblem(`${wrong.name} is no image, and this server takes images only.`);
    try {
      const read = await fileParts(chosen);
      const draft = conversation.draft.get();
      conversation.setDraft({ ...draft, parts: [...draft.parts, ...read] });
      setProblem(null);
    } catch (error) {
      setProblem(messageOf(error));
    }
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // Safari's Enter that ends a composition is none of it any more, and has this code.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    submit();
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
  const remove = (part: ContentPart) =>
    conversation.setDraft({ text, parts: parts.filter((other) => other !== part) });

  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={onDrop}
    >
      {problem && (
        <p className="inline-error" role="alert">
          {problem}
        </p>
      )}
      {discards && filled && !running && (
        <p className="discard">
          <span>If you send this now, it replaces the answer: the agent’s question is dropped.</span>
          <button type="button" className="small" onClick={() => send("queue", true)}>
            Send anyway
          </button>
        </p>
      )}
      {parts.length > 0 && <Chips parts={parts} onRemove={remove} />}
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
          placeholder={blocked ?? (running ? (steers ? STEER : QUEUE) : "Write to the agent")}
          onChange={(event) => conversation.setDraft(event.target.value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
        {onCut && <CutButton title={cutTitle} onCut={onCut} onFocusLost={() => focusField(field.current)} />}
        {steers && ready && (
          <button type="button" className="quiet" title="Sends it after this answer" onClick={() => send("queue")}>
            Later
          </button>
        )}
        {running && !ready ? (
          <button
            type="button"
            className="primary round"
            onClick={() => void conversation.stop()}
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

const STEER = "Send another message to the running agent";
const QUEUE = "Write what to send after this answer";

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const attachWords = (accept: string): string => (accept === "" ? "Attach files" : "Attach images");

/** Without a keyboard, the focus would open one over half of the page. */
export function focusField(field: HTMLTextAreaElement | null): void {
  if (window.matchMedia("(pointer: fine)").matches) field?.focus({ preventScroll: true });
}

function Chips({ parts, onRemove }: { parts: readonly ContentPart[]; onRemove: (part: ContentPart) => void }) {
  return (
    <ul className="chips">
      {parts.map((part, index) => {
        const [file = { name: "", data: "" }] = contentsOf([part]).files;
        return (
          <li key={index} className="chip">
            <Icon name="file" /> <span className="chip-name">{file.name}</span>
            <span className="faint">{sizeWords(file)}</span>
            <button type="button" className="quiet small" onClick={() => onRemove(part)} aria-label={`Remove ${file.name}`}>
              <Icon name="close" />
            </button>
          </li>
        );
      })}
    </ul>
  );
}
