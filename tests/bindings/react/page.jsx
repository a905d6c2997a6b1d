import { lazy, StrictMode, Suspense } from "react";
import { createRoot } from "react-dom/client";
import { install } from "../kit.js";
import { App } from "./app.jsx";
import { Pages, Suspended, Wall } from "./concurrent.jsx";
import { Answer } from "./guide.tsx";
import { Crowd, Loading, Tab } from "./life.jsx";
import { Rows } from "./rows.jsx";
import { Talk } from "./talk.jsx";

// Its module connects.
const Chat = lazy(async () => ({ default: (await import("./chat.tsx")).Chat }));
const Chatting = () => <Suspense><Chat /></Suspense>;

const VIEWS = { Answer, App, Chatting, Crowd, Loading, Pages, Rows, Suspended, Tab, Talk, Wall };

install((element, { strict, ...props }) => {
  const root = createRoot(element);
  const update = (next) => {
    props = { ...props, ...next };
    const View = VIEWS[props.show ?? (props.turn ? "Answer" : props.conversation ? "Talk" : "App")];
    root.render(strict ? <StrictMode><View {...props} /></StrictMode> : <View {...props} />);
  };
  update({});
  return { update, unmount: () => root.unmount() };
});
