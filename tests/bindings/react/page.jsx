import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { install } from "../kit.js";
import { App } from "./app.jsx";
import { Pages, Suspended, Wall } from "./concurrent.jsx";
import { Answer } from "./guide.tsx";
import { Talk } from "./talk.jsx";

const VIEWS = { Answer, App, Pages, Suspended, Talk, Wall };

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
