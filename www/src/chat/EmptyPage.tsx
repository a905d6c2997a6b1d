// What the person sees before the first message: what this page is, and things to try.

import type { Capabilities, Client, ContentPart, Protocol, TurnInputItem } from "turnwire";
import { isKept } from "../settings/protocols";
import { ProtocolSwitch } from "../settings/ProtocolSwitch";
import { Icon } from "../ui/Icon";
import { userMessage } from "./attachments";
import { fits, MORE, SUGGESTIONS } from "./suggestions";

/** Small generated files for "Send a file" and "Send an image". */
const NOTES: ContentPart = {
  type: "file",
  name: "notes.txt",
  data: `data:text/plain;base64,${btoa("Call Ada at noon.\nOrder more coffee.\n")}`,
};
const PICTURE: ContentPart = {
  type: "file",
  name: "stripes.png",
  data: "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAGklEQVR42mMQT4/HihhwSuQc34kV4Zaggx0AcZlZIRFXuOcAAAAASUVORK5CYII=",
};

/** What happens to an answer whose connection breaks, in a word. */
const RECOVERY: Record<Capabilities["resume"], string> = {
  cursor: "resumed after a break",
  history: "recovered after a break",
  none: "with clear errors",
};

interface Props {
  client: Client;
  agentName: string;
  /** Null if there is only one protocol. */
  onProtocol: ((protocol: Protocol) => void) | null;
  onSend: (message: TurnInputItem) => void;
}

export function EmptyPage({ client, agentName, onProtocol, onSend }: Props) {
  const file = client.capabilities.documents ? NOTES : PICTURE;
  const send = (message: string) => onSend(userMessage(message, message.startsWith("File ") ? [file] : []));
  return (
    <section className="empty-page">
      <h2>What should the agent do?</h2>
      <p className="lead">
        You are talking to <strong>{agentName}</strong>. turnwire streams every answer: exact, fast, {RECOVERY[client.capabilities.resume]}.
        Write, or try one of these.
        {isKept(client) && " While it answers, open this page’s address in a second tab or browser: both read the same answer."}
      </p>
      {onProtocol && (
        <div className="speaks">
          <span className="faint">The same page, over</span>
          <ProtocolSwitch current={client.protocol} onChoose={onProtocol} />
        </div>
      )}
      <ul className="suggestions">
        {SUGGESTIONS.filter((suggestion) => fits(suggestion, client)).map(({ icon, title, about, message }) => (
          <li key={title}>
            <button type="button" onClick={() => send(message)}>
              <Icon name={icon} />
              <span className="suggestion-title">{title}</span>
              <span className="faint">{about}</span>
            </button>
          </li>
        ))}
      </ul>
      <ul className="more">
        {MORE.filter((script) => fits(script, client)).map(({ label, message }) => (
          <li key={label}>
            <button type="button" className="pill" onClick={() => send(message)}>
              {label}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
