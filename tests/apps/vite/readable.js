// What a page of React needs to read a turn's view: the hook of the guide on rendering.
import { createElement, useEffect, useState } from "react";

export function useReadable(source) {
  const [state, setState] = useState(() => ({ source, value: source.get() }));
  let now = state;
  if (state.source !== source) setState((now = { source, value: source.get() }));
  useEffect(() => {
    const update = () => {
      const value = source.get();
      setState((was) => (was.source === source && Object.is(was.value, value) ? was : { source, value }));
    };
    update();
    return source.subscribe(update);
  }, [source]);
  return now.value;
}

/** The text of a turn, for servers as well. */
export function Answer({ turn }) {
  const { input, status, threads } = useReadable(turn.view);
  return createElement(
    "article",
    { "data-status": status },
    createElement("h2", null, input[0].content),
    threads[0].messages.map(({ id, content }) => createElement("p", { key: id }, content)),
  );
}
