// What a server's protocol supports. Derived from the list in `src/protocol/capabilities.rs`, whose golden
// test writes this file: do not edit it.

/** What a server's protocol supports, so that a page need not find out by failing. */
export interface Capabilities {
    /**
     * What happens to a turn whose connection drops. `"cursor"`: its stream resumes after the last event.
     * `"history"`: the turn continues, and its messages are read as soon as the server has them. `"none"`: nothing
     * more can be read, and the turn ends as `incomplete`.
     */
    readonly resume: "cursor" | "history" | "none";
    /** `turn.cancel()` */
    readonly cancel: boolean;
    /** `session.interrupt()` */
    readonly interrupt: boolean;
    /** `session.cancel()` */
    readonly cancelSession: boolean;
    /** `session.history()`, `session.resume()`, and the lists of turns and events */
    readonly history: boolean;
    /** `session.listMessages()` */
    readonly messages: boolean;
    /** `pageToken` and `limit` of `listTurns()` and `listEvents()`: without it each list is one page */
    readonly pages: boolean;
    /** `session.listTurns()` begins with the newest turn */
    readonly newestFirst: boolean;
    /** Turns have ids of the server's, which stay the same after a reload */
    readonly turnIds: boolean;
    /** `createTurn({ previousTurnId })` may name any turn: the conversation can branch */
    readonly fork: boolean;
    /** `turn.state()` can start a turn, without a stream */
    readonly detached: boolean;
    /** `turn.answer()` while the turn runs */
    readonly liveAnswers: boolean;
    /** `turn.steer()` */
    readonly steer: boolean;
    /** `createTurn({ discardPending: true })` */
    readonly discardPending: boolean;
    /** Files in messages of the user */
    readonly files: boolean;
    /** Files of any type: without it only images, and sound if the server takes it */
    readonly documents: boolean;
    /** Images by URL in messages of the user: parts `{ type: "image", url }` */
    readonly images: boolean;
    /** Tools of the page: `session.tools()` and `session.run()` */
    readonly pageTools: boolean;
    /** `result` of a tool's response is the server's record of the whole call; its text for people is `content` */
    readonly toolRecords: boolean;
    /** `client.agents.list()` */
    readonly agents: boolean;
    /** The listed agents say what they support (`agent.capabilities`). A session supports what its agent does */
    readonly agentCapabilities: boolean;
    /** `client.agents.listSessions()` */
    readonly listSessions: boolean;
    /** `session.title` and `session.createdAt` are known to the server */
    readonly sessionInfo: boolean;
    /** `client.agents.createSession(agentName, { title })` */
    readonly titles: boolean;
    /** `session.rename()` */
    readonly rename: boolean;
    /** `session.delete()` */
    readonly delete: boolean;
    /** `session.state()` */
    readonly state: boolean;
    /**
     * Sessions with an agent that the client supplies: `createDraftSession()` and related methods, and their
     * `update({ agentSpec })`
     */
    readonly drafts: boolean;
    /** `client.agents.searchSessions()` */
    readonly search: boolean;
    /** `client.agents.downloadSandboxFile()` */
    readonly sandboxFiles: boolean;
}

/** The names in the order of the core's numbers. @internal */
export const CAPABILITIES =
    "cancel interrupt cancelSession history messages pages newestFirst turnIds fork detached liveAnswers steer discardPending files documents images pageTools toolRecords agents agentCapabilities listSessions sessionInfo titles rename delete state drafts search sandboxFiles";
