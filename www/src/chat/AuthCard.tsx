// Servers for which the person must sign in before the agent may use them.

import { memo } from "react";
import type { RequiredAction } from "turnwire";
import { Icon } from "../ui/Icon";
import { safeUrl } from "../ui/safeUrl";
import { isCallAction } from "./answers";
import { useChat } from "./chat";

interface Props {
  actions: readonly RequiredAction[];
  /** The turn is the last one, so it can continue from here. */
  active: boolean;
}

export const AuthCard = memo(function AuthCard({ actions, active }: Props) {
  const { proceed } = useChat();
  const servers = actions.filter((action) => action.type === "mcp.auth_required").map((action) => action.server);
  if (servers.length === 0) return null;
  const onlySignIn = !actions.some(isCallAction);
  return (
    <section role="group" className={`card auth${active ? " waits" : ""}`} aria-label="Sign-in needed">
      <p className="question-text">
        <Icon name="plug" /> {active ? "The agent needs you to sign in first." : "The agent asked you to sign in."}
      </p>
      <ul className="options">
        {servers.map((server) => (
          <li key={server.id}>
            <SignIn name={server.name} url={server.auth_url} />
          </li>
        ))}
      </ul>
      {active && onlySignIn && (
        <div className="ask">
          <div className="row">
            <button type="button" className="primary" onClick={proceed}>
              I have signed in, continue
            </button>
          </div>
        </div>
      )}
    </section>
  );
});

function SignIn({ name, url }: { name: string; url: string }) {
  const href = safeUrl(url);
  if (href === null) return <p className="inline-error">{name} gave an address that is not safe to open.</p>;
  return (
    <a className="button" href={href} target="_blank" rel="noopener noreferrer">
      Sign in to {name} <Icon name="external" />
    </a>
  );
}
