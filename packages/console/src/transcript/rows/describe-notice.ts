import type { Problem, SessionEvent } from "@codexkit/daemon/client";

export interface NoticeText {
  readonly tone: "info" | "warn" | "danger";
  readonly title: string;
  readonly detail?: string;
  /** The output of codex before it ended. */
  readonly stderr?: string;
  /** Whether codex itself has failed, as opposed to the turn. */
  readonly isCrash?: boolean;
}

const MOVE_REASONS = {
  restart: "The daemon was restarted.",
  node_lost: "Its node was lost.",
  drain: "Its node was shut down.",
  request: "It was moved on request.",
} as const;

/** Describes a notice. */
export function describeNotice(event: SessionEvent): NoticeText {
  switch (event.type) {
    case "gap":
      return {
        tone: "warn",
        title: `Events ${event.from} to ${event.to} are missing.`,
        detail:
          event.reason === "retention"
            ? "They were removed by retention. Items of that time are still in the history."
            : "The store was restored from an older copy.",
      };
    case "recovered":
      return {
        tone: "info",
        title: `${event.items} ${event.items === 1 ? "item was" : "items were"} read from the thread's history.`,
        detail: event.reason,
      };
    case "session.moved":
      return {
        tone: "info",
        title: `Continued on ${event.to}.`,
        detail: MOVE_REASONS[event.reason],
      };
    case "turn.failed":
      return describeProblem("The turn failed", event.problem);
    case "command.finished":
      return event.problem
        ? describeProblem(`Not carried out: ${event.kind}`, event.problem)
        : { tone: "info", title: `${event.kind} is done.` };
    case "warning":
      return { tone: "warn", title: event.message };
    case "session.updated":
      return describeChanges(event.changes);
    case "session.deleted":
      return { tone: "danger", title: "This session was deleted." };
    default:
      return { tone: "info", title: event.type };
  }
}

function describeChanges(changes: Readonly<Record<string, unknown>>): NoticeText {
  if (typeof changes["revertedBefore"] === "string") {
    return { tone: "info", title: "Turns were removed from the history. Files were not changed." };
  }
  const problem = changes["problem"] as Problem | null | undefined;
  if (problem) return describeProblem("The session has a problem", problem);
  const settings = changes["settings"];
  if (typeof settings === "object" && settings !== null) {
    const { model, effort, permissionMode, agentMode } = settings as Readonly<Record<string, unknown>>;
    const parts = [model, effort, permissionMode, agentMode].filter((part) => typeof part === "string");
    return { tone: "info", title: `Settings: ${parts.join(" · ")}` };
  }
  return { tone: "info", title: "The session was changed." };
}

/** Describes a problem, with a known solution, or with the last lines of codex for `codex_failed`. */
export function describeProblem(title: string, problem: Problem): NoticeText {
  const stderr = problem["stderr"];
  if (problem.type === "writer_locked") {
    const holder = problem["holder"] as { pid?: number; command?: string } | null | undefined;
    const program = holder?.command ?? "Another program";
    const pid = holder?.pid === undefined ? "" : ` (process ${holder.pid})`;
    return {
      tone: "warn",
      title: `${program}${pid} has this thread open.`,
      detail: `${problem.detail} Close it there, or fork the session.`,
    };
  }
  return {
    tone: "danger",
    title: `${title}: ${problem.title}`,
    detail: problem.detail,
    ...(typeof stderr === "string" && stderr !== "" && { stderr }),
    ...(problem.type === "codex_failed" && { isCrash: true }),
  };
}
