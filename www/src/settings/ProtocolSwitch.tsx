// Switches between the protocols of the gateway that serves the page.

import type { Protocol } from "turnwire";
import { SERVED } from "./protocols";

interface Props {
  current: Protocol;
  onChoose: (protocol: Protocol) => void;
}

export function ProtocolSwitch({ current, onChoose }: Props) {
  return (
    <div className="protocol-switch" role="group" aria-label="Protocol">
      {SERVED.map(({ id, name, short }) => (
        <button
          key={id}
          type="button"
          className="quiet"
          aria-pressed={id === current}
          title={name}
          onClick={() => id !== current && onChoose(id)}
        >
          {short}
        </button>
      ))}
    </div>
  );
}
