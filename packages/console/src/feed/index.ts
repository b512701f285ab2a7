// The screens' interface to the daemon: one hook and its types.
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
