// Whether a turn is under way.

import type { TurnSnapshot } from "turnwire";

/** Whether the turn is being started or read. A turn with a reading error may still run, but not here. */
export function isLive({ status, error }: TurnSnapshot): boolean {
  return error === null && (status === "unstarted" || status === "starting" || status === "running");
}
