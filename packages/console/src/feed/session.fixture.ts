import type { Item, SessionEvent, TurnSummary } from "@codexkit/daemon/client";
import fc from "fast-check";
import { textOf } from "./item-record.ts";
import type { SessionProjection } from "./session-projection.ts";

type Step =
  | { readonly what: "turn" }
  | { readonly what: "end"; readonly how: "turn.completed" | "turn.interrupted" }
  | { readonly what: "message" }
  | { readonly what: "command" }
  | { readonly what: "delta"; readonly text: string }
  | { readonly what: "complete" }
  | { readonly what: "plan"; readonly step: string }
  | { readonly what: "warning" }
  | { readonly what: "revert"; readonly turns: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: fc.constant({ what: "turn" as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      what: fc.constant("end" as const),
      how: fc.constantFrom("turn.completed" as const, "turn.interrupted" as const),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ what: "message" as const }) },
  { weight: 2, arbitrary: fc.constant({ what: "command" as const }) },
  {
    weight: 8,
    arbitrary: fc.record({
      what: fc.constant("delta" as const),
      text: fc.string({ minLength: 1, maxLength: 6 }),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ what: "complete" as const }) },
  {
    weight: 1,
    arbitrary: fc.record({ what: fc.constant("plan" as const), step: fc.string({ maxLength: 5 }) }),
  },
  { weight: 1, arbitrary: fc.constant({ what: "warning" as const }) },
  {
    weight: 1,
    arbitrary: fc.record({ what: fc.constant("revert" as const), turns: fc.integer({ min: 1, max: 3 }) }),
  },
);

/** A journal of a realistic session. */
export const arbitraryEvents: fc.Arbitrary<readonly SessionEvent[]> = fc
  .array(step, { maxLength: 60 })
  .map((steps) => toEvents(steps));

function toEvents(steps: readonly Step[]): SessionEvent[] {
  const events: object[] = [];
  let turnId: string | undefined;
  let turns = 0;
  /** Turns of the history that were not reverted. */
  let kept: string[] = [];
  let items = 0;
  let open:
    | { readonly id: string; readonly type: "agentMessage" | "commandExecution"; text: string }
    | undefined;
  const push = (event: object): void => {
    events.push({ ...event, seq: events.length + 1, epoch: 1, at: events.length * 10 });
  };
  const ids = (): object => ({ threadId: "thread", turnId });
  const itemOf = (): object =>
    open?.type === "agentMessage"
      ? { id: open.id, type: open.type, text: open.text }
      : { id: open?.id, type: open?.type, command: "ls", aggregatedOutput: open?.text, status: "completed" };
  const complete = (): void => {
    if (open) push({ type: "item.completed", ...ids(), item: itemOf() });
    open = undefined;
  };
  for (const each of steps) {
    if (each.what === "turn" && turnId === undefined) {
      turns += 1;
      turnId = `turn-${turns}`;
      kept.push(turnId);
      push({ type: "turn.started", ...ids() });
    } else if (each.what === "warning") push({ type: "warning", kind: "server", message: "careful" });
    else if (each.what === "revert" && turnId === undefined) {
      const before = kept.at(-each.turns);
      if (before === undefined) continue;
      push({ type: "session.updated", changes: { revertedBefore: before } });
      kept = kept.slice(0, -each.turns);
    }
    if (turnId === undefined) continue;
    if (each.what === "end") {
      complete();
      push({ type: each.how, ...ids(), result: {} });
      turnId = undefined;
    } else if (each.what === "message" || each.what === "command") {
      complete();
      items += 1;
      const type = each.what === "message" ? "agentMessage" : "commandExecution";
      open = { id: `item-${items}`, type, text: "" };
      push({ type: "item.started", ...ids(), item: itemOf() });
    } else if (each.what === "delta" && open) {
      const kind = open.type === "agentMessage" ? "message" : "command_output";
      push({
        type: "item.delta",
        ...ids(),
        itemId: open.id,
        kind,
        delta: each.text,
        offset: open.text.length,
      });
      open.text += each.text;
    } else if (each.what === "complete") complete();
    else if (each.what === "plan") {
      push({
        type: "plan.updated",
        ...ids(),
        plan: [{ step: each.step, status: "pending" }],
        explanation: null,
      });
    }
  }
  return events as SessionEvent[];
}

/** Returns the history that the daemon would serve after these events. */
export function toHistory(events: readonly SessionEvent[]): { items: Item[]; turns: TurnSummary[] } {
  const items = new Map<string, Item>();
  const turns = new Map<string, TurnSummary>();
  for (const event of events) {
    if (event.type === "session.updated") {
      const first = turns.get(event.changes["revertedBefore"] as string)?.firstSeq ?? 0;
      for (const rows of [items, turns]) {
        for (const [id, { firstSeq }] of rows) if (firstSeq >= first) rows.delete(id);
      }
    }
    if (event.type === "item.started" || event.type === "item.completed") {
      const { item, turnId, threadId, seq } = event;
      items.set(item.id, {
        id: item.id,
        threadId,
        turnId,
        kind: item.type,
        status: event.type === "item.started" ? "running" : "completed",
        firstSeq: items.get(item.id)?.firstSeq ?? seq,
        lastSeq: seq,
        item: { ...item },
        bodyLength: 0,
      });
    }
    if (event.type === "item.delta") {
      const row = items.get(event.itemId);
      if (!row) continue;
      const before = (row.item["streamed"] as { text: string } | undefined)?.text ?? "";
      const text = before + event.delta;
      const streamed = { kind: event.kind, text, length: text.length };
      items.set(row.id, { ...row, item: { ...row.item, streamed } });
    }
    if (event.type.startsWith("turn.") && "turnId" in event && typeof event.turnId === "string") {
      const known = turns.get(event.turnId);
      const hasEnded = event.type !== "turn.started";
      turns.set(event.turnId, {
        id: event.turnId,
        threadId: "thread",
        status: (hasEnded ? event.type.slice("turn.".length) : "running") as TurnSummary["status"],
        title: "",
        firstSeq: known?.firstSeq ?? event.seq,
        lastSeq: event.seq,
        startedAt: known?.startedAt ?? event.at,
        endedAt: hasEnded ? event.at : null,
        usage: null,
        diffStat: null,
      });
    }
  }
  return { items: [...items.values()], turns: [...turns.values()] };
}

/** Returns the visible state of a projection. */
export function snapshot(projection: SessionProjection): unknown {
  return {
    entries: projection.entries.map((entry) =>
      entry.type === "item"
        ? { key: entry.key, status: entry.status, text: textOf(entry), item: entry.item }
        : { key: entry.key },
    ),
    turns: projection.turns,
    plan: projection.plan,
  };
}
