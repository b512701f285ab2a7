// A drop-in for `@openai/codex-sdk` 0.163, on long-lived codex processes instead of one per turn: change the import, and
// nothing else. New programs want `codexkit` itself.
import "../require-node.ts";

export { Codex } from "./codex.ts";
export { type RunResult, type RunStreamedResult, Thread } from "./thread.ts";

// How Codex, a thread and a turn are set up.
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

// What happens in a turn.
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

// What `run` rejects with. The old package has only `Error`, which this is too.
export { ThreadRunError } from "./errors.ts";
