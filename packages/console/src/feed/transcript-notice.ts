import type { SessionEvent } from "@codexkit/daemon/client";
import type { TranscriptNotice } from "./types.ts";

/** Whether an event is an entry of the transcript by itself. */
export function isNotice(event: SessionEvent): boolean {
  switch (event.type) {
    case "gap":
    case "inbox.opened":
    case "recovered":
    case "session.deleted":
    case "session.moved":
    case "session.updated":
    case "turn.failed":
    case "warning":
      return true;
    case "command.finished":
      return event.problem !== undefined;
    default:
      return false;
  }
}

export function toNotice(event: SessionEvent): TranscriptNotice {
  return {
    type: "notice",
    key: `notice/${event.seq}`,
    firstSeq: event.seq,
    at: event.at,
    turnId: ("turnId" in event ? event.turnId : undefined) ?? undefined,
    event,
  };
}
