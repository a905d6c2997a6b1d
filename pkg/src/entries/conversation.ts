/**
 * What a page needs for a conversation: its messages, a queue, answers, branches; and the registry that keeps it.
 *
 * @module turnwire/conversation
 */
export { Conversation, type QueueActions } from "../conversation/conversation.js";
export { Conversations, type ConversationsOptions } from "../conversation/conversations.js";
export { type Dehydrated, type DehydratedTurn, load, type LoadOptions } from "../conversation/dehydrated.js";
export { type FileLimits, fileParts } from "../conversation/files.js";
export type { TextStore } from "../common/store.js";
export type {
  Action,
  Answer,
  AssistantMessage,
  Branch,
  Call,
  ConversationTopics,
  Draft,
  EndMessage,
  GivenAnswer,
  Info,
  Item,
  Message,
  Part,
  Pending,
  Phase,
  Queued,
  Row,
  SendOptions,
  Snapshot,
  Status,
  Thread,
  TurnView,
  UserMessage,
  WhenBusy,
} from "../conversation/types.js";
export type { Readable } from "../common/readable.js";
