// An app with readers of one source, and a sibling that reads another.
import { For } from "solid-js";
import { useReadable } from "turnwire/solid";
import { drawn, label } from "../kit.js";

export function App(props) {
  return (
    <main>
      {drawn("app")}
      <For each={Array.from({ length: props.readers })}>{() => <Reader source={props.source} />}</For>
      <Sibling source={props.other} />
    </main>
  );
}

function Reader(props) {
  const value = useReadable(() => props.source);
  return <p class="reader">{drawn("reader", label(props.source, value()))}</p>;
}

function Sibling(props) {
  const value = useReadable(() => props.source);
  return <p>{drawn("sibling", value())}</p>;
}
