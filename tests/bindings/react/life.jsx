// A chat that comes and goes: hidden by React's Activity, or unmounted.
import * as React from "react";
import { Rows } from "./rows.jsx";

/** What React 18 does not have is left out. */
const Activity = React.Activity ?? (({ children }) => children);

export function Tab({ chat, mode }) {
  return <Activity mode={mode}><Rows chat={chat} /></Activity>;
}

/** Suspends until the turns are read. `told` gets what the conversation tells while the component renders. */
export function Loading(props) {
  return <React.Suspense fallback={<p className="fallback">wait</p>}><Loaded {...props} /></React.Suspense>;
}

function Loaded({ chat, told }) {
  const remove = chat.subscribe(() => told.push(chat.status.get().phase));
  const { loaded } = chat;
  remove();
  React.use(loaded);
  return <Rows chat={chat} />;
}

/** Many components that show one conversation. */
export function Crowd({ chat, readers }) {
  return Array.from({ length: readers }, (_, at) => <Rows key={at} chat={chat} />);
}
