import { createSignal } from "solid-js";
import { render } from "solid-js/web";
import { install } from "../kit.js";
import { App } from "./app.jsx";
import { Answer } from "./guide.tsx";

install((element, first) => {
  const [props, setProps] = createSignal(first);
  const Root = () => (props().turn ? <Answer turn={props().turn} /> : <App source={props().source} other={props().other} readers={props().readers} />);
  return { update: (next) => setProps((was) => ({ ...was, ...next })), unmount: render(Root, element) };
});
