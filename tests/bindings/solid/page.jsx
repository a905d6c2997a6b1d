import { createSignal } from "solid-js";
import { render } from "solid-js/web";
import { install } from "../kit.js";
import { App } from "./app.jsx";

install((element, first) => {
  const [props, setProps] = createSignal(first);
  const Root = () => <App source={props().source} other={props().other} readers={props().readers} />;
  return { update: (next) => setProps((was) => ({ ...was, ...next })), unmount: render(Root, element) };
});
