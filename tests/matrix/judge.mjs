// Whether a row has worked: each protocol's text is exact, its stream was cut, and the page reported nothing.

/** What is wrong with a row's result; empty if nothing is. */
export function judge({ results, failures = [] }, protocols, expected) {
  if (results?.error) return [results.error.split("\n")[0]];
  const wrong = protocols.flatMap((protocol) => {
    const result = results?.[protocol];
    if (!result) return [`${protocol}: nothing was played`];
    const { status, text, shown, cuts } = result;
    return [
      ...(status === "done" ? [] : [`${protocol}: the turn is ${status}`]),
      ...(text === expected ? [] : [`${protocol}: the events' text is ${text.length} characters long, not ${expected.length}, or another`]),
      ...(shown === expected ? [] : [`${protocol}: the snapshot has another text`]),
      ...(cuts === null || cuts > 0 ? [] : [`${protocol}: nothing was cut`]),
    ];
  });
  return [...wrong, ...failures];
}
