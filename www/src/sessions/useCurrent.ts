// The conversation that the address names, and the list that it stands in.

import { useEffect, useState } from "react";
import type { Client, Session } from "turnwire";
import { Conversation } from "../chat/Conversation";
import { onNews, tellTurn } from "./news";
import { goTo, useSessionId } from "./route";
import { SessionList } from "./SessionList";

interface Current {
  readonly conversation: Conversation;
  readonly sessions: SessionList;
}

export function useCurrent(client: Client, agentName: string): Current {
  const sessionId = useSessionId();
  const [sessions, setSessions] = useState(() => new SessionList(client, agentName));
  const [conversation, setConversation] = useState(() => open(client, agentName, sessionId, sessions));

  // Replaced while rendering, so that nothing is ever drawn with the conversation of another address or connection.
  if (conversation.client !== client) {
    const list = new SessionList(client, agentName);
    setSessions(list);
    setConversation(open(client, agentName, sessionId, list));
  } else if (conversation.sessionId !== sessionId) {
    setConversation(open(client, agentName, sessionId, sessions));
  }

  useEffect(() => {
    void sessions.refresh();
    return () => sessions.close();
  }, [sessions]);
  useEffect(() => {
    conversation.open();
    const ignore = onNews(
      () => conversation.sessionId,
      () => void conversation.catchUp(),
    );
    return () => {
      ignore();
      conversation.close();
    };
  }, [conversation]);
  return { conversation, sessions };
}

function open(client: Client, agentName: string, sessionId: string | null, sessions: SessionList): Conversation {
  const onActivity = (session: Session) => {
    sessions.note(session);
    goTo(session.id);
  };
  return new Conversation({ client, agentName, sessionId, onActivity, onTurn: tellTurn });
}
