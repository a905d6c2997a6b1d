// How far a running call says it is: a thin bar, and its own words.

import type { ToolProgress } from "turnwire";
import { shareOf } from "./callStatus";

export function ProgressLine({ progress }: { progress: ToolProgress }) {
  const share = shareOf(progress);
  return (
    <div className="progress">
      {/* Without a value the bar says that something goes on, and not how far. */}
      <progress aria-label="Progress" {...(share !== null && { value: share })} />
      {progress.message && <span>{progress.message}</span>}
    </div>
  );
}
