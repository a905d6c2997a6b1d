"use client";

import { useEffect, useState } from "react";
import { connect } from "turnwire";
import { play } from "../play.mjs";

// At the top of a module, where a build runs it, too.
export const early = connect({ baseUrl: "/api/agents" });

export default function Page() {
  const [result, setResult] = useState(null);
  useEffect(() => {
    const query = new URLSearchParams(location.search);
    play(connect, query.get("gateway"), query.get("protocols").split(",")).then(setResult, (error) => setResult({ error: String(error?.stack ?? error) }));
  }, []);
  return result && <output>{JSON.stringify(result)}</output>;
}
