// What only some protocols have in a session: their own files add it, so that none is named here.

/** The settings of a session. */
export interface SessionSettings {}

/** What a session is read with, because no server keeps it. */
export interface KeptSettings {}

/** What a session may begin with, by family. */
export interface PriorMessageUnion {}

/** What a session may begin with: messages in the protocol's own form. */
export type PriorMessages = PriorMessageUnion[keyof PriorMessageUnion];
