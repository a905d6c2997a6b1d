// The progress of a running call: a thin bar, and the tool's message.

import type { ToolProgress } from "turnwire";
import { shareOf } from "./callStatus";

const OVER = new Set(["done", "failed", "cancelled"]);

export function ProgressLine({ progress }: { progress: ToolProgress }) {
  const share = shareOf(progress);
  // The call's end is about to come, with more information.
  if (OVER.has(progress.status ?? "")) return null;
  return (
    <div className="progress">
      {/* Without a value the bar says that something goes on, and not how far. */}
      <progress aria-label="Progress" {...(share !== null && { value: share })} />
      {progress.message && <span>{progress.message}</span>}
    </div>
  );
}
