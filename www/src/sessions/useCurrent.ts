// The conversation in the URL, and its list.

import { useEffect, useState } from "react";
import type { Client, Session } from "turnwire";
import { Conversation } from "../chat/Conversation";
import { onNews, announceTurn } from "./news";
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
  // Conversations that were left while their turn ran, at a server that needs a reader.
  const [left] = useState(() => new Map<string, Conversation>());

  // Replaced while rendering, so that nothing ever renders with the conversation of another URL or connection.
  if (conversation.client !== client) {
    const list = new SessionList(client, agentName);
    left.clear();
    setSessions(list);
    setConversation(open(client, agentName, sessionId, list));
  } else if (conversation.sessionId !== sessionId) {
    if (conversation.sessionId !== null && conversation.isBound) left.set(conversation.sessionId, conversation);
    const known = sessionId === null ? undefined : left.get(sessionId);
    setConversation(known?.isBound ? known : open(client, agentName, sessionId, sessions));
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
    sessions.note(session, conversation.title);
    // A turn that ends in another conversation does not switch to it.
    if (conversation.isOpen) goTo(session.id);
  };
  const onLoad = (session: Session) => sessions.name(session, conversation.title);
  const conversation = new Conversation({ client, agentName, sessionId, onActivity, onLoad, onTurn: announceTurn });
  return conversation;
}
