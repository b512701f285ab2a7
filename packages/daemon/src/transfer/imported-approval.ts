import type { ParkedProgress } from "../inbox/parked-inbox.ts";
import type { LineOf } from "./session-file.ts";

type ApprovalLine = LineOf<"approval">;

/** The folder of the session in the daemon that exported it, and here. */
export interface MovedFolders {
  readonly from: string;
  readonly to: string;
}

/** Whether it waits for an answer, or its answer for the model. */
export function isParked({ approval }: ApprovalLine): boolean {
  return approval.parked_at !== null && approval.submitted_at === null;
}

export function isAnswered(line: ApprovalLine): boolean {
  return isParked(line) && line.approval.state === "answered";
}

/**
 * An approval of a file that is not trusted: without its answer, without the verdict that another daemon's policy is said to have
 * given, and without a delivery that was under way. Such a delivery would give the model an output that no command had here.
 */
export function withoutAnswer(line: ApprovalLine): ApprovalLine {
  const { approval } = line;
  const progress = approval.progress === null ? {} : (JSON.parse(approval.progress) as ParkedProgress);
  const { rootBytes, reason, openCalls, startedItems, wasSubmitted, action, isContinued } = progress;
  const kept: ParkedProgress = {
    ...(rootBytes !== undefined && { rootBytes }),
    ...(reason !== undefined && { reason }),
    ...(openCalls !== undefined && { openCalls }),
    ...(startedItems !== undefined && { startedItems }),
    ...(wasSubmitted !== undefined && { wasSubmitted }),
    // What was begun elsewhere may have had effects, and is reported as such.
    ...(action !== undefined && { action: "begun" as const }),
  };
  return {
    ...line,
    approval: {
      ...approval,
      verdict: null,
      progress: approval.progress === null ? null : JSON.stringify(kept),
      ...(isAnswered(line) && {
        state: "parked",
        answer: null,
        answered_by: null,
        answered_by_name: null,
        answered_at: null,
      }),
      // The thread has gone on. What the model asks for again is a new request.
      ...(isParked(line) && isContinued === true && { state: "withdrawn", note: "Its session was moved." }),
    },
  };
}

/** What is asked belongs to the folder of the session here. */
export function moveRequest(json: string, { from, to }: MovedFolders): string {
  const request = JSON.parse(json) as { cwd?: unknown; changes?: { path: string; diff: string }[] | null };
  const { cwd, changes } = request;
  const move = (path: string): string =>
    path === from || path.startsWith(`${from}/`) ? to + path.slice(from.length) : path;
  return JSON.stringify({
    ...request,
    ...(typeof cwd === "string" && { cwd: move(cwd) }),
    ...(changes && {
      changes: changes.map((change) => ({
        ...change,
        path: move(change.path),
        diff: change.diff.replace(/(?<=\n\nMoved to: ).+$/, move),
      })),
    }),
  });
}
