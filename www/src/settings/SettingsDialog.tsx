// Points the page at another gateway.

import { useId, useState, type FormEvent } from "react";
import { Modal } from "../ui/Modal";
import { isProtocol, knownProtocol, PROTOCOLS, withProtocol } from "./protocols";
import { defaultSettings, type Settings } from "./settings";

interface Props {
  settings: Settings;
  onSave: (settings: Settings) => void;
  onClose: () => void;
}

export function SettingsDialog({ settings, onSave, onClose }: Props) {
  const [draft, setDraft] = useState(settings);
  const id = useId();
  const change = (part: Partial<Settings>) => setDraft({ ...draft, ...part });
  const save = (event: FormEvent) => {
    event.preventDefault();
    onSave({ ...draft, baseUrl: draft.baseUrl.trim(), agentName: draft.agentName.trim() });
  };
  return (
    <Modal title="Connection" className="settings" onClose={onClose}>
      <form onSubmit={save}>
        <label htmlFor={`${id}-protocol`}>Protocol</label>
        <select
          id={`${id}-protocol`}
          value={draft.protocol}
          onChange={({ target }) => isProtocol(target.value) && setDraft(withProtocol(draft, target.value))}
        >
          {PROTOCOLS.map((protocol) => (
            <option key={protocol.id} value={protocol.id}>
              {protocol.name}
            </option>
          ))}
        </select>

        <label htmlFor={`${id}-url`}>Server address</label>
        <input
          id={`${id}-url`}
          type="url"
          required
          value={draft.baseUrl}
          onChange={(event) => change({ baseUrl: event.target.value })}
        />
        <p className="faint">{knownProtocol(draft.protocol)?.hint}</p>

        <label htmlFor={`${id}-agent`}>Agent</label>
        <input
          id={`${id}-agent`}
          required
          list={`${id}-agents`}
          value={draft.agentName}
          onChange={(event) => change({ agentName: event.target.value })}
        />

        <datalist id={`${id}-agents`}>
          {knownProtocol(draft.protocol)?.agents?.map((agent) => (
            <option key={agent} value={agent} />
          ))}
        </datalist>

        <label htmlFor={`${id}-token`}>Token</label>
        <input
          id={`${id}-token`}
          type="password"
          autoComplete="off"
          value={draft.token}
          onChange={(event) => change({ token: event.target.value })}
        />
        <p className="faint">Kept in memory until the page is closed, never stored.</p>

        <div className="row end">
          <button type="button" className="quiet" onClick={() => setDraft(defaultSettings())}>
            Use the defaults
          </button>
          <button type="submit" className="primary">
            Connect
          </button>
        </div>
      </form>
    </Modal>
  );
}
