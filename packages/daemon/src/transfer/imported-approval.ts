import type { ParkedProgress } from "../inbox/parked-inbox.ts";
import type { LineOf } from "./session-file.ts";

type ApprovalLine = LineOf<"approval">;

/** The folder of the session on the exporting daemon, and here. */
export interface MovedFolders {
  readonly from: string;
  readonly to: string;
}

/** Whether an approval is parked: it waits for an answer, or its answer has not been delivered. */
export function isParked({ approval }: ApprovalLine): boolean {
  return approval.parked_at !== null && approval.submitted_at === null;
}

export function isAnswered(line: ApprovalLine): boolean {
  return isParked(line) && line.approval.state === "answered";
}

/**
 * Returns an approval from an untrusted file, without its answer, without the verdict of the other daemon's policy, and
 * without a started delivery. Such a delivery would give the model the output of a command that was never run here.
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
    // An action that was started elsewhere may have had effects. The model is informed about that.
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
      // The thread has been continued. If the model makes the request again, it is a new one.
      ...(isParked(line) && isContinued === true && { state: "withdrawn", note: "Its session was moved." }),
    },
  };
}

/** Replaces the session's folder in a request. */
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
