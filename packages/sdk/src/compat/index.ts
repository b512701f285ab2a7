// A drop-in replacement for `@openai/codex-sdk` 0.163 that uses long-lived codex processes instead of one per turn. Only the
// import changes. New programs should use `codexkit` itself.
import "../require-node.ts";

export { Codex } from "./codex.ts";
export { type RunResult, type RunStreamedResult, Thread } from "./thread.ts";

// Options of Codex, threads and turns.
export type {
  ApprovalMode,
  CodexOptions,
  CyberAccessProgram,
  ModelReasoningEffort,
  SandboxMode,
  ThreadOptions,
  TurnOptions,
  WebSearchMode,
} from "./options.ts";
export type { Input, UserInput } from "./input.ts";

// Events and items of a turn.
export type {
  ItemCompletedEvent,
  ItemStartedEvent,
  ItemUpdatedEvent,
  ThreadError,
  ThreadErrorEvent,
  ThreadEvent,
  ThreadStartedEvent,
  TurnCompletedEvent,
  TurnFailedEvent,
  TurnStartedEvent,
  Usage,
} from "./events.ts";
export type {
  AgentMessageItem,
  CommandExecutionItem,
  ErrorItem,
  FileChangeItem,
  McpToolCallItem,
  ReasoningItem,
  ThreadItem,
  TodoListItem,
  WebSearchItem,
} from "./items.ts";

// The error of `run`. The original throws a plain `Error`, of which this is a subclass.
export { ThreadRunError } from "./errors.ts";
