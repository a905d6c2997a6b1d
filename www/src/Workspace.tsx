// Everything that belongs to one connection, and its layout on the page.

import { useEffect, useState } from "react";
import type { Client, Protocol } from "turnwire";
import { useReadable, useStatus } from "turnwire/react";
import { Chat } from "./chat/Chat";
import { Notice } from "./chat/Notice";
import { NO_GATEWAY } from "./chat/words";
import type { Cutter } from "./connection/DevelopmentGateway";
import { EventsPane } from "./events/EventsPane";
import { goTo } from "./sessions/route";
import { SessionPane } from "./sessions/SessionPane";
import { Pane } from "./ui/Pane";
import { TopBar } from "./TopBar";
import { useCurrent } from "./sessions/useCurrent";
import { useNarrow } from "./ui/useNarrow";

/** Below these widths the panes become drawers over the conversation, in CSS pixels. */
const SESSIONS_WIDTH = 860;
const EVENTS_WIDTH = 1120;

interface Props {
  client: Client;
  agentName: string;
  gateway: Cutter | "missing" | null;
  /** Switches the protocol at the gateway that serves the page; null if the page uses another server. */
  onProtocol: ((protocol: Protocol) => void) | null;
  onSettings: () => void;
}

export function Workspace({ client, agentName, gateway, onProtocol, onSettings }: Props) {
  const { place, conversation } = useCurrent(client, agentName);
  const { sessionId, title } = useReadable(conversation.info);
  const { canStop } = useStatus(conversation);
  const log = place.logOf(conversation);
  // A new place begins to count its conversations anew.
  const key = `${place.key} ${conversation.key}`;
  const sessionsOverlay = useNarrow(SESSIONS_WIDTH);
  const eventsOverlay = useNarrow(EVENTS_WIDTH);
  const [showSessions, setShowSessions] = useState(!sessionsOverlay);
  const [showEvents, setShowEvents] = useState(false);

  // Panes that become drawers must not cover the conversation on their own.
  useEffect(() => setShowSessions(!sessionsOverlay), [sessionsOverlay]);

  useEffect(() => {
    document.title = title ? `${title} · turnwire` : "turnwire demo";
  }, [title]);

  // Dialogs and drawers handle Escape themselves; any other Escape stops the agent.
  useEffect(() => {
    if (!canStop) return;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !event.defaultPrevented && !document.querySelector("dialog[open]"))
        void conversation.stop();
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, [conversation, canStop]);

  const leaveDrawer = () => {
    if (sessionsOverlay) setShowSessions(false);
  };
  const startNew = () => {
    goTo(null);
    leaveDrawer();
  };
  return (
    <div className="workspace">
      {showSessions && (
        <Pane side="left" title="Conversations" overlay={sessionsOverlay} onClose={() => setShowSessions(false)}>
          <SessionPane list={place.sessions} currentId={sessionId} onNew={startNew} onChoose={leaveDrawer} />
        </Pane>
      )}
      <main>
        <TopBar
          title={title}
          agentName={agentName}
          client={client}
          sessionsShown={showSessions}
          eventsShown={showEvents}
          onSessions={() => setShowSessions(!showSessions)}
          onEvents={() => setShowEvents(!showEvents)}
          onSettings={onSettings}
        />
        {gateway === "missing" && onProtocol && <Notice trouble={NO_GATEWAY} onSettings={onSettings} />}
        <Chat
          key={key}
          conversation={conversation}
          client={client}
          log={log}
          agentName={agentName}
          gateway={gateway === "missing" ? null : gateway}
          onProtocol={onProtocol}
          onSettings={onSettings}
        />
      </main>
      {showEvents && (
        <Pane side="right" title="Events" overlay={eventsOverlay} onClose={() => setShowEvents(false)}>
          <EventsPane key={key} log={log.events} />
        </Pane>
      )}
    </div>
  );
}
