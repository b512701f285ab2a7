import type { StoredTurnResult } from "../api/event.ts";

/** The result of a turn that is only known to have ended. */
export function emptyTurnResult(
  threadId: string,
  turnId: string,
  status: StoredTurnResult["status"],
): StoredTurnResult {
  return {
    threadId,
    turnId,
    status,
    finalResponse: "",
    openItems: [],
    usage: null,
    diff: "",
    plan: [],
    durationMs: null,
  };
}
