// The conversation in the URL, and the place where it is.

import { useEffect, useRef, useState } from "react";
import type { Client } from "turnwire";
import type { Conversation } from "turnwire/conversation";
import { useReadable } from "turnwire/react";
import { Place } from "./Place";
import { useSessionId } from "./route";

interface Current {
  readonly place: Place;
  readonly conversation: Conversation;
}

export function useCurrent(client: Client, agentName: string): Current {
  const sessionId = useSessionId();
  const [state, setPlace] = useState(() => new Place(client, agentName));
  let place = state;
  // Replaced while rendering, so that nothing ever renders with the conversation of another connection.
  if (place.client !== client) setPlace((place = new Place(client, agentName)));
  useReadable(place.reopened);
  const conversation = place.conversationOf(sessionId);

  const before = useRef(place);
  useEffect(() => {
    if (before.current !== place) before.current.close();
    before.current = place;
  }, [place]);
  useEffect(() => {
    void place.sessions.refresh();
    return () => place.sessions.close();
  }, [place]);
  useEffect(() => place.show(conversation), [place, conversation]);
  return { place, conversation };
}
