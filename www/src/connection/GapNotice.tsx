// Lost events: which, and what happens to their text.

import { memo } from "react";
import { useReadable } from "turnwire/react";
import { Icon } from "../ui/Icon";
import type { TurnConnection } from "./TurnConnection";
import { missingWords } from "./words";

export const GapNotice = memo(function GapNotice({ connection, live }: { connection: TurnConnection; live: boolean }) {
  const { gaps } = useReadable(connection);
  if (gaps.length === 0) return null;
  return (
    <p className="gap-notice">
      <Icon name="warn" />
      <span>
        Lost on the way: {missingWords(gaps)}.{" "}
        {live ? "Their text comes from the turn’s record, once it has ended." : "Their text is from the turn’s record."}
      </span>
    </p>
  );
});
