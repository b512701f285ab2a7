import type { NewSessionEvent } from "../../../packages/daemon/src/api/event.ts";

const TURN = {
  threadId: "0199a7c2-6f0e-7a51-9d3c-2b1f5c8e7d60",
  turnId: "0199a7c2-70aa-7b13-8c57-1f0e2d3c4b5a",
};
const TEXT = " and some more words of it";

export function delta(itemId: string, offset: number): NewSessionEvent {
  return { type: "item.delta", ...TURN, itemId, kind: "message", delta: TEXT, offset: offset * TEXT.length };
}

/** A message with its start, deltas and end: `count` events. */
export function itemEvents(itemId: string, count: number): NewSessionEvent[] {
  const message = (text: string) => ({
    type: "agentMessage" as const,
    id: itemId,
    text,
    phase: null,
    memoryCitation: null,
    delivery: null,
    questions: null,
  });
  const deltas = Array.from({ length: count - 2 }, (_, index) => delta(itemId, index));
  return [
    { type: "item.started", ...TURN, item: message("") },
    ...deltas,
    { type: "item.completed", ...TURN, item: message(TEXT.repeat(count)) },
  ];
}
