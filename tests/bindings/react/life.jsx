// A chat that comes and goes: hidden by React's Activity, or unmounted.
import * as React from "react";
import { Rows } from "./rows.jsx";

/** What React 18 does not have is left out. */
const Activity = React.Activity ?? (({ children }) => children);

export function Tab({ chat, mode }) {
  return <Activity mode={mode}><Rows chat={chat} /></Activity>;
}

/** Many components that show one conversation. */
export function Crowd({ chat, readers }) {
  return Array.from({ length: readers }, (_, at) => <Rows key={at} chat={chat} />);
}
