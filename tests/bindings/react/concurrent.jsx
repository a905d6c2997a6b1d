// What only React does: it renders in slices, drops renderings and waits with them.
import { startTransition, Suspense, useLayoutEffect, useState, useSyncExternalStore } from "react";
import { useReadable } from "turnwire/react";
import { label } from "../kit.js";

/** Keeps the processor busy, as a component that renders much. */
function work(milliseconds) {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

/** A component that has read its source when it suspends. */
export function Suspended({ source, gate }) {
  return (
    <Suspense fallback={<p className="fallback">wait</p>}>
      <Gated source={source} gate={gate} />
    </Suspense>
  );
}

function Gated({ source, gate }) {
  const value = useReadable(source);
  if (!gate.isOpen) throw gate.promise;
  return <p className="reader">{label(source, value)}</p>;
}

const useExternal = (source) => useSyncExternalStore(source.subscribe, source.get);

/** Goes to a page of twenty components that take 10 ms each, beside a reader. `control.go()` resolves when the page is there. */
export function Pages({ source, control, external }) {
  const [page, setPage] = useState(0);
  const useSource = external ? useExternal : useReadable;
  control.go = () =>
    new Promise((resolve) => {
      control.arrived = resolve;
      startTransition(() => setPage((was) => was + 1));
    });
  return (
    <>
      <Reader source={source} useSource={useSource} />
      {page > 0 && <Page key={page} control={control} />}
    </>
  );
}

function Page({ control }) {
  useLayoutEffect(() => control.arrived(), [control]);
  return Array.from({ length: 20 }, (_, at) => <Slow key={at} />);
}

function Slow() {
  work(10);
  return <p>slow</p>;
}

function Reader({ source, useSource }) {
  return <p className="reader">{useSource(source)}</p>;
}

/** Sixty readers that take half a millisecond each. `control.turn()` mounts them again, in a transition. */
export function Wall({ source, control }) {
  const [key, setKey] = useState(0);
  control.turn = () => startTransition(() => setKey((was) => was + 1));
  return Array.from({ length: 60 }, (_, at) => <Brick key={`${key} ${at}`} source={source} />);
}

function Brick({ source }) {
  const value = useReadable(source);
  work(0.5);
  return <p className="reader">{value}</p>;
}
