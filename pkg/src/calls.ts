// What can be asked of a server.

/** The calls, by the numbers of the core: in the order of its `Call::ALL`. */
export const enum Call {
  CreateSession,
  ListSessions,
  GetSession,
  CancelSession,
  ListTurns,
  CreateTurnStream,
  CreateTurn,
  GetTurn,
  SubscribeTurn,
  ListTurnEvents,
  ListSessionEvents,
  CreateDraftSession,
  ListDraftSessions,
  GetDraftSession,
  UpdateDraftSession,
  ListOwnedSessions,
  SearchSessions,
  DownloadSandboxFile,
  DeleteSession,
}
