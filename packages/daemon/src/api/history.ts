import { z } from "zod";
import type { SessionEvent } from "./event.ts";
import { timestamp } from "./parameters.ts";
import { tokenUsage } from "./session.ts";

/**
 * An event of Codex or of the daemon. The OpenAPI document describes the common fields; the exact union is the
 * TypeScript type.
 */
export const sessionEvent = z
  .looseObject({
    seq: z.int().positive().meta({ description: "Gapless per session, starting at 1." }),
    epoch: z.int(),
    at: timestamp,
    type: z.string().meta({
      description:
        "thread.started, turn.started, item.started, item.delta, item.completed, plan.updated, diff.updated, usage.updated, approval.requested, approval.resolved, question.requested, question.resolved, warning, turn.completed, turn.failed, turn.interrupted, notice, unknown; and of the daemon: session.created, session.updated, session.deleted, session.moved, command.accepted, command.started, command.finished, item.abandoned, recovered, gap, inbox.opened, inbox.answered, inbox.withdrawn, inbox.expired, inbox.parked, inbox.delivered.",
    }),
  })
  .meta({ id: "SessionEvent" }) as unknown as z.ZodType<SessionEvent>;

export const gap = z
  .object({ from: z.int(), to: z.int() })
  .meta({ id: "Gap", description: "Events from `from` through `to` were removed by retention." });

export const eventPage = z
  .object({
    events: z.array(sessionEvent),
    gap: gap.nullable(),
    next: z.int().meta({ description: "Pass as `after` to continue." }),
    lastSeq: z.int(),
  })
  .meta({ id: "EventPage" });

export const item = z
  .object({
    id: z.string(),
    threadId: z.string(),
    turnId: z.string(),
    kind: z.string(),
    status: z.enum(["running", "completed", "failed", "abandoned"]),
    firstSeq: z.int(),
    lastSeq: z.int(),
    item: z
      .record(z.string(), z.unknown())
      .meta({ description: "Codex's item. Long texts are truncated; the full text is at `/body`." }),
    bodyLength: z.int().meta({ description: "UTF-16 length of the item's longest text." }),
  })
  .meta({ id: "Item" });
export type Item = z.infer<typeof item>;

export const turn = z
  .object({
    id: z.string(),
    threadId: z.string(),
    status: z.enum(["running", "completed", "failed", "interrupted"]),
    title: z.string().meta({ description: "First line of the message that started the turn." }),
    firstSeq: z.int(),
    lastSeq: z.int(),
    startedAt: timestamp,
    endedAt: timestamp.nullable(),
    usage: tokenUsage.nullable(),
    diffStat: z.object({ files: z.int(), added: z.int(), removed: z.int() }).nullable(),
  })
  .meta({ id: "Turn" });
export type TurnSummary = z.infer<typeof turn>;

export function page<Schema extends z.ZodType>(id: string, entry: Schema) {
  return z
    .object({
      data: z.array(entry),
      next: z.string().nullable().meta({ description: "Cursor of the next page. Null on the last page." }),
    })
    .meta({ id });
}
