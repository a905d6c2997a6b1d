import { createSignal } from "solid-js";
import { render } from "solid-js/web";
import { install } from "../kit.js";
import { App } from "./app.jsx";
import { Answer } from "./guide.tsx";
import { Rows } from "./rows.jsx";
import { Talk } from "./talk.jsx";

install((element, first) => {
  const [props, setProps] = createSignal(first);
  const Root = () => {
    if (props().chat) return <Rows chat={props().chat} />;
    if (props().turn) return <Answer turn={props().turn} />;
    if (props().conversation) return <Talk conversation={props().conversation} />;
    return <App source={props().source} other={props().other} readers={props().readers} />;
  };
  return { update: (next) => setProps((was) => ({ ...was, ...next })), unmount: render(Root, element) };
});
