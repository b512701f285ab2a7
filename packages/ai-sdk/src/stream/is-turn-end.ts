import type { CodexEvent, TurnEndEvent } from "codexkit";

export function isTurnEnd(event: CodexEvent): event is TurnEndEvent {
  return event.type === "turn.completed" || event.type === "turn.failed" || event.type === "turn.interrupted";
}
