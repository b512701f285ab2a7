import type { ServerNotifications, v2 } from "@codexkit/protocol";
import type {
  DeltaKind,
  DiffUpdatedEvent,
  ItemCompletedEvent,
  ItemDeltaEvent,
  ItemStartedEvent,
  NoticeEvent,
  PlanUpdatedEvent,
  RawMessage,
  ThreadStartedEvent,
  TurnStartedEvent,
  UnknownEvent,
  WarningEvent,
  WarningKind,
} from "./event.ts";
import { isNotice } from "./notices.ts";

/** Usage and the end of a turn need the turn's own state to become an event: they come as they are. */
export interface UsageNotification {
  readonly type: "usage";
  readonly params: v2.ThreadTokenUsageUpdatedNotification;
  readonly raw: RawMessage;
}

export interface TurnEndNotification {
  readonly type: "turn-end";
  readonly params: v2.TurnCompletedNotification;
  readonly raw: RawMessage;
}

/** What one notification says, before it meets the state of its turn. */
export type ParsedNotification =
  | ThreadStartedEvent
  | TurnStartedEvent
  | ItemStartedEvent
  | ItemDeltaEvent
  | ItemCompletedEvent
  | PlanUpdatedEvent
  | DiffUpdatedEvent
  | WarningEvent
  | NoticeEvent
  | UnknownEvent
  | UsageNotification
  | TurnEndNotification;

/** Gives nothing where a message has not the shape that is needed to read it. */
type Reader<M extends keyof ServerNotifications> = (
  params: ServerNotifications[M],
  raw: RawMessage,
) => ParsedNotification | undefined;
type Readers = { [M in keyof ServerNotifications]?: Reader<M> };

const READERS = {
  "thread/started": ({ thread }, raw) =>
    areTexts(thread.id) ? { type: "thread.started", threadId: thread.id, thread, raw } : undefined,
  "turn/started": ({ threadId, turn }, raw) =>
    areTexts(threadId, turn.id) ? { type: "turn.started", threadId, turnId: turn.id, raw } : undefined,
  "turn/completed": ({ threadId, turn }, raw) => {
    if (!areTexts(threadId, turn.id)) return undefined;
    // Whatever else a release leaves out: a turn that ended must end here.
    const items = Array.isArray(turn.items) ? turn.items.filter(isItem) : [];
    return { type: "turn-end", params: { threadId, turn: { ...turn, items } }, raw };
  },
  "item/started": ({ threadId, turnId, item }, raw) =>
    areTexts(threadId, turnId) && isItem(item)
      ? { type: "item.started", threadId, turnId, item, raw }
      : undefined,
  "item/completed": ({ threadId, turnId, item }, raw) =>
    areTexts(threadId, turnId) && isItem(item)
      ? { type: "item.completed", threadId, turnId, item, raw }
      : undefined,
  "item/agentMessage/delta": (params) => delta("message", params),
  "item/plan/delta": (params) => delta("plan", params),
  "item/commandExecution/outputDelta": (params) => delta("command_output", params),
  "item/reasoning/summaryTextDelta": (params) => delta("reasoning_summary", params, params.summaryIndex),
  "item/reasoning/textDelta": (params) => delta("reasoning", params, params.contentIndex),
  "item/mcpToolCall/progress": ({ message, ...params }) =>
    delta("tool_progress", { ...params, delta: message }),
  "turn/plan/updated": ({ threadId, turnId, plan, explanation }, raw) =>
    areTexts(threadId, turnId) && Array.isArray(plan)
      ? { type: "plan.updated", threadId, turnId, plan, explanation, raw }
      : undefined,
  "turn/diff/updated": ({ threadId, turnId, diff }, raw) =>
    areTexts(threadId, turnId, diff) ? { type: "diff.updated", threadId, turnId, diff, raw } : undefined,
  "thread/tokenUsage/updated": (params, raw) => {
    const { threadId, turnId, tokenUsage } = params;
    return areTexts(threadId, turnId) && isCount(tokenUsage.total) && isCount(tokenUsage.last)
      ? { type: "usage", params, raw }
      : undefined;
  },
  error: ({ error, threadId, turnId, willRetry }, raw) =>
    // The last error of a turn comes again with its end; only one that is survived is a warning.
    willRetry ? warning("retrying", error.message, { threadId, turnId }, raw) : notice(raw),
  warning: ({ message, threadId }, raw) => warning("server", message, { threadId }, raw),
  guardianWarning: ({ message, threadId }, raw) => warning("guardian", message, { threadId }, raw),
  deprecationNotice: ({ summary, details }, raw) =>
    warning("deprecation", sentence(summary, details), {}, raw),
  configWarning: ({ summary, details }, raw) => warning("config", sentence(summary, details), {}, raw),
  "model/rerouted": ({ fromModel, toModel, threadId, turnId }, raw) => {
    if (!areTexts(fromModel, toModel)) return undefined;
    const message = `${toModel} answers in place of ${fromModel}.`;
    return {
      type: "warning",
      kind: "model_rerouted",
      message,
      model: toModel,
      ...placeOf({ threadId, turnId }),
      raw,
    };
  },
} satisfies Readers;

/** The notifications that become an event of their own. */
export type MappedMethod = keyof typeof READERS;

const readers = new Map<string, (params: never, raw: RawMessage) => ParsedNotification | undefined>(
  Object.entries(READERS),
);

/**
 * Reads one notification. One that is known and has no reader is a `notice`; one that is not known, or has not the shape
 * that its reader expects, is `unknown`. Both carry the raw message.
 */
export function parseNotification(raw: RawMessage): ParsedNotification {
  if (isNotice(raw.method)) return notice(raw);
  const read = readers.get(raw.method);
  if (read && typeof raw.params === "object" && raw.params !== null) {
    try {
      const reading = read(raw.params as never, raw);
      if (reading) return reading;
    } catch {
      // A release that changed the shape: passed on as it is.
    }
  }
  return { type: "unknown", ...placeOf(raw.params), raw };
}

function notice(raw: RawMessage): NoticeEvent {
  return { type: "notice", ...placeOf(raw.params), raw };
}

function areTexts(...values: unknown[]): boolean {
  return values.every((value) => typeof value === "string");
}

function isItem(item: v2.ThreadItem | null | undefined): boolean {
  return areTexts(item?.id, item?.type);
}

function isCount(usage: v2.TokenUsageBreakdown | null | undefined): boolean {
  return typeof usage?.totalTokens === "number";
}

interface DeltaParams {
  readonly threadId: string;
  readonly turnId: string;
  readonly itemId: string;
  readonly delta: string;
}

function delta(
  kind: DeltaKind,
  { threadId, turnId, itemId, delta: text }: DeltaParams,
  index?: number,
): ItemDeltaEvent | undefined {
  if (typeof text !== "string" || !areTexts(threadId, turnId, itemId)) return undefined;
  const event = { type: "item.delta", threadId, turnId, itemId, kind, delta: text } as const;
  return typeof index === "number" ? { ...event, index } : event;
}

interface Place {
  readonly threadId?: string | null;
  readonly turnId?: string | null;
}

function warning(
  kind: WarningKind,
  message: string,
  place: Place,
  raw: RawMessage,
): WarningEvent | undefined {
  if (typeof message !== "string") return undefined;
  return { type: "warning", kind, message, ...placeOf(place), raw };
}

function placeOf(params: unknown): { threadId?: string; turnId?: string } {
  const { threadId, turnId } = (params ?? {}) as { threadId?: unknown; turnId?: unknown };
  return {
    ...(typeof threadId === "string" ? { threadId } : {}),
    ...(typeof turnId === "string" ? { turnId } : {}),
  };
}

function sentence(summary: string, details: string | null): string {
  return areTexts(summary, details) ? `${summary}: ${details}` : summary;
}
