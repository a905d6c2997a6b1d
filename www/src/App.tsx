// The page: conversations on the left, the current one in the middle, its events on the right.

import { useState } from "react";
import type { Protocol } from "turnwire";
import { Notice } from "./chat/Notice";
import { explain } from "./chat/words";
import { useDevelopmentGateway } from "./connection/useDevelopmentGateway";
import { isDemoAddress, withProtocol } from "./settings/protocols";
import { loadSettings, saveSettings, type Settings } from "./settings/settings";
import { SettingsDialog } from "./settings/SettingsDialog";
import { goTo } from "./sessions/route";
import { useClient } from "./settings/useClient";
import { Workspace } from "./Workspace";

export function App() {
  const [settings, setSettings] = useState(loadSettings);
  const [editing, setEditing] = useState(false);
  const { client, error } = useClient(settings);
  const gateway = useDevelopmentGateway(settings);

  const save = (next: Settings) => {
    saveSettings(next);
    setSettings(next);
    setEditing(false);
    // A conversation of one gateway does not exist at another one.
    const isElsewhere =
      next.baseUrl !== settings.baseUrl || next.protocol !== settings.protocol || next.agentName !== settings.agentName;
    if (isElsewhere) goTo(null);
  };
  const speak = (protocol: Protocol) => save(withProtocol(settings, protocol));
  const openSettings = () => setEditing(true);
  return (
    <>
      {client && (
        <Workspace
          client={client}
          agentName={settings.agentName}
          gateway={gateway}
          onProtocol={isDemoAddress(client.baseUrl) ? speak : null}
          onSettings={openSettings}
        />
      )}
      {!client && error !== null && (
        <main className="startup">
          <Notice trouble={{ ...explain(error), remedy: "settings" }} onSettings={openSettings} />
        </main>
      )}
      {editing && <SettingsDialog settings={settings} onSave={save} onClose={() => setEditing(false)} />}
    </>
  );
}
