// The development gateway of the settings, once it was looked for.

import { useEffect, useState } from "react";
import type { Settings } from "../settings/settings";
import { type Cutter, DevelopmentGateway } from "./DevelopmentGateway";

export function useDevelopmentGateway(settings: Settings): Cutter | "missing" | null {
  const [gateway, setGateway] = useState<Cutter | "missing" | null>(null);
  useEffect(() => {
    const asking = new AbortController();
    void DevelopmentGateway.find(settings, asking.signal).then((found) => {
      if (!asking.signal.aborted) setGateway(found);
    });
    return () => {
      asking.abort();
      setGateway(null);
    };
  }, [settings]);
  return gateway;
}
