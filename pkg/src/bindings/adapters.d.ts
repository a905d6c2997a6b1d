// The parts that the adapters use of their packages, so that this package is built without them. The tests compile the adapters'
// sources against those packages' own types.
declare module "@assistant-ui/react" {
  type MessageContent = { readonly type: "text" | "reasoning"; readonly text: string };
  type ImageContent = { readonly type: "image"; readonly image: string; readonly filename?: string };
  type FileContent = { readonly type: "file"; readonly data: string; readonly mimeType: string; readonly filename?: string };
  type DataContent = { readonly type: "data"; readonly name: string; readonly data: unknown };
  type ApprovalOption = { readonly id: string; readonly kind: string };
  type CallContent = {
    readonly type: "tool-call";
    readonly toolCallId: string;
    readonly toolName: string;
    readonly args: { readonly [name: string]: unknown };
    readonly argsText: string;
    readonly result?: unknown;
    readonly isError?: boolean;
    readonly approval?: {
      readonly id: string;
      readonly prompt?: string;
      readonly display?: "text";
      readonly options?: readonly ApprovalOption[];
      readonly approved?: boolean;
      readonly reason?: string;
    };
    readonly messages?: readonly ThreadMessage[];
  };
  type UserContent = { readonly type: "text"; readonly text: string } | ImageContent | FileContent | DataContent;
  type CompleteAttachment = {
    id: string;
    type: string;
    name: string;
    contentType?: string;
    file?: File;
    status: { type: "complete" };
    content: UserContent[];
  };
  type PendingAttachment = { id: string; name: string; status: { type: "running" | "requires-action" | "incomplete" }; file: File };
  export type Attachment = PendingAttachment | CompleteAttachment;
  type MessageStatus =
    | { readonly type: "running" }
    | { readonly type: "requires-action"; readonly reason: "tool-calls" }
    | { readonly type: "complete"; readonly reason: "stop" }
    | { readonly type: "incomplete"; readonly reason: "cancelled" | "length" | "content-filter" | "error"; readonly error?: string };
  type UserMessage = {
    readonly role: "user";
    readonly content: readonly UserContent[];
    readonly attachments: readonly CompleteAttachment[];
    readonly metadata: { readonly custom: Record<string, unknown> };
  };
  type AssistantMessage = {
    readonly role: "assistant";
    readonly content: readonly (MessageContent | CallContent | DataContent)[];
    readonly status: MessageStatus;
    readonly metadata: {
      readonly unstable_state: null;
      readonly unstable_annotations: readonly never[];
      readonly unstable_data: readonly never[];
      readonly steps: readonly never[];
      readonly custom: Record<string, unknown>;
    };
  };
  export type ThreadMessage = { readonly id: string; readonly createdAt: Date } & (UserMessage | AssistantMessage);
  export type ExportedMessageRepository = { headId?: string | null; messages: { message: ThreadMessage; parentId: string | null }[] };
  export type AppendMessage = {
    readonly content: readonly UserContent[];
    readonly attachments?: readonly CompleteAttachment[];
    readonly sourceId: string | null;
    readonly steer?: boolean | undefined;
  };
  type QueueItem = { readonly id: string; readonly prompt: string; readonly parts: readonly { readonly type: "text"; readonly text: string }[] };
  type ExternalStoreQueue = {
    items: readonly QueueItem[];
    steerItems: readonly QueueItem[];
    enqueue: (message: AppendMessage) => void;
    steer: (message: AppendMessage) => void;
    edit: (id: string, message: AppendMessage) => void;
    remove: (id: string) => void;
    move: (id: string, placement: { readonly lane?: "queue" | "steer"; readonly insertAfter?: string | null; readonly insertBefore?: string | null }) => void;
  };
  export type ExternalStoreAdapter = {
    isLoading?: boolean;
    isRunning?: boolean;
    isSendDisabled?: boolean;
    hasEarlier?: boolean;
    messageRepository?: ExportedMessageRepository;
    queue?: ExternalStoreQueue;
    adapters?: object | undefined;
    setMessages?: (messages: readonly ThreadMessage[]) => void;
    onNew: (message: AppendMessage) => Promise<void>;
    onEdit?: (message: AppendMessage) => Promise<void>;
    onCancel?: () => Promise<void>;
    onReload?: (parentId: string | null) => Promise<void>;
    onLoadEarlier?: () => Promise<void>;
    onAddToolResult?: (options: { toolCallId: string; result: unknown }) => void;
    onRespondToToolApproval?: (options: { approvalId: string; approved: boolean; optionId?: string; text?: string; reason?: string }) => void;
  };
  type Composed = { readonly text: string; readonly attachments: readonly Attachment[] };
  type ThreadComposer = {
    getState(): Composed & { readonly submission?: Composed | undefined };
    setText(text: string): void;
    addAttachment(attachment: File | CompleteAttachment): Promise<void>;
    reset(): Promise<void>;
  };
  export interface AssistantRuntime {
    readonly thread: { readonly composer: ThreadComposer };
  }
  export function useExternalStoreRuntime(store: ExternalStoreAdapter): AssistantRuntime;
}

declare module "ai" {
  type ToolChunk<Type extends string, More = object> = { type: Type; toolCallId: string } & More;
  type ToolInput = { toolName: string; providerExecuted?: boolean };
  export type UIMessageChunk =
    | { type: "text-start" | "text-end" | "reasoning-start" | "reasoning-end"; id: string }
    | { type: "text-delta" | "reasoning-delta"; id: string; delta: string }
    | { type: "start-step" | "finish-step" | "reset-step" | "abort" }
    | { type: "start"; messageId?: string }
    | { type: "finish"; finishReason?: "stop" | "length" | "content-filter" | "tool-calls" | "error" | "other" }
    | { type: "steering-message"; id: string; parts: ({ type: "text"; text: string } | { type: "file"; mediaType: string; url: string; filename?: string })[] }
    | { type: `data-${string}`; id?: string; data: unknown }
    | ToolChunk<"tool-input-start", ToolInput>
    | ToolChunk<"tool-input-delta", { inputTextDelta: string }>
    | ToolChunk<"tool-input-available", ToolInput & { input: unknown }>
    | ToolChunk<"tool-approval-request", { approvalId: string; reason?: string }>
    | { type: "tool-approval-response"; approvalId: string; approved: boolean }
    | ToolChunk<"tool-output-available", { output: unknown }>
    | ToolChunk<"tool-output-error", { errorText: string }>
    | ToolChunk<"tool-output-denied">;
  type ToolUIPart = {
    type: `tool-${string}`;
    toolCallId: string;
    state: string;
    output?: unknown;
    errorText?: string;
    approval?: { approved?: boolean; reason?: string };
  };
  export interface UIMessage {
    id: string;
    role: "system" | "user" | "assistant";
    parts: ({ type: "text"; text: string } | { type: "file"; mediaType: string; url: string; filename?: string } | ToolUIPart)[];
  }
  export interface ChatTransport<M extends UIMessage> {
    readonly resumeStreamIsReplay?: boolean;
    sendMessages: (options: { chatId: string; messages: M[]; abortSignal: AbortSignal | undefined }) => Promise<ReadableStream<UIMessageChunk>>;
    reconnectToStream: (options: { chatId: string; abortSignal?: AbortSignal }) => Promise<ReadableStream<UIMessageChunk> | null>;
  }
  export function readUIMessageStream<M extends UIMessage>(options: { message: M; stream: ReadableStream<UIMessageChunk> }): AsyncIterable<M>;
}
