// An app with readers of one source, and a sibling that reads another.
import { memo, useEffect } from "react";
import { useReadable } from "turnwire/react";
import { drawn, label } from "../kit.js";

export function App({ source, other, readers }) {
  drawn("app");
  useEffect(() => void drawn("app's commit"));
  return (
    <main>
      {Array.from({ length: readers }, (_, at) => <Reader key={at} source={source} />)}
      <Sibling source={other} />
    </main>
  );
}

function Reader({ source }) {
  const text = drawn("reader", label(source, useReadable(source)));
  useEffect(() => void drawn("reader's commit"));
  return <p className="reader">{text}</p>;
}

const Sibling = memo(function Sibling({ source }) {
  drawn("sibling");
  useEffect(() => void drawn("sibling's commit"));
  return <p>{useReadable(source)}</p>;
});
