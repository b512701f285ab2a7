// What screens use of the daemon: one hook, and the types of what it returns.
export { useDaemon } from "./daemon-context.ts";
export type {
  Agent,
  Connection,
  ConnectionState,
  DaemonFeed,
  Plan,
  PlanStep,
  SessionUsage,
  SessionView,
  SignedInAs,
  ThreadItem,
  ThreadItemOf,
  TranscriptEntry,
  TranscriptItem,
  TranscriptNotice,
  TurnDiff,
  Usage,
} from "./types.ts";
