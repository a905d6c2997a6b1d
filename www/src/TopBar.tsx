// The bar at the top: the current place, and the panes that can be opened.

import type { Client } from "turnwire";
import { isRelayed, protocolName } from "./settings/protocols";
import { ThemeToggle } from "./settings/ThemeToggle";
import { Icon } from "./ui/Icon";
import { Logo } from "./ui/Logo";

interface Props {
  title: string | null;
  agentName: string;
  client: Client;
  sessionsShown: boolean;
  eventsShown: boolean;
  onSessions: () => void;
  onEvents: () => void;
  onSettings: () => void;
}

export function TopBar(props: Props) {
  const { title, agentName, client, sessionsShown, eventsShown, onSessions, onEvents, onSettings } = props;
  return (
    <header className="top-bar">
      <button
        type="button"
        className="quiet round"
        onClick={onSessions}
        aria-expanded={sessionsShown}
        aria-label="Conversations"
        title="Conversations"
      >
        <Icon name="menu" />
      </button>
      {!sessionsShown && <Logo />}
      <div className="top-title">
        <h1 className="top-name">{title || "New conversation"}</h1>
        <span className="faint top-agent">
          {agentName} · {protocolName(client.protocol)}
          {isRelayed(client) && " · relay"}
        </span>
      </div>
      <button
        type="button"
        className="quiet"
        onClick={onEvents}
        aria-expanded={eventsShown}
        aria-label="Events"
        title="Events"
      >
        <Icon name="list" /> <span className="wide-only">Events</span>
      </button>
      <ThemeToggle />
      <button type="button" className="quiet round" onClick={onSettings} aria-label="Connection" title="Connection">
        <Icon name="settings" />
      </button>
    </header>
  );
}
