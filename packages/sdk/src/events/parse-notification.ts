import type { ServerNotifications, v2 } from "@codexkit/protocol";
import type { RequestEvent } from "../requests/request-events.ts";
import type {
  CodexEvent,
  DeltaKind,
  ItemDeltaEvent,
  NoticeEvent,
  RawMessage,
  TurnEndEvent,
  UsageUpdatedEvent,
  WarningEvent,
  WarningKind,
} from "./event.ts";
import { isNotice } from "./notices.ts";

/** Becomes an event only in combination with the state of its turn, like the end of a turn. */
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

/** A parsed notification. Most are already events; usage and turn ends need the state of their turn. */
export type ParsedNotification =
  | Exclude<CodexEvent, RequestEvent | UsageUpdatedEvent | TurnEndEvent>
  | UsageNotification
  | TurnEndNotification;

/** Returns undefined if the message does not have the expected shape. */
type Parser<M extends keyof ServerNotifications> = (
  params: ServerNotifications[M],
  raw: RawMessage,
) => ParsedNotification | undefined;
type Parsers = { [M in keyof ServerNotifications]?: Parser<M> };

const PARSERS = {
  "thread/started": ({ thread }, raw) =>
    areStrings(thread.id) ? { type: "thread.started", threadId: thread.id, thread, raw } : undefined,
  "turn/started": ({ threadId, turn }, raw) =>
    areStrings(threadId, turn.id) ? { type: "turn.started", threadId, turnId: turn.id, raw } : undefined,
  "turn/completed": ({ threadId, turn }, raw) => {
    if (!areStrings(threadId, turn.id)) return undefined;
    // A turn must end here even if a release omits the other members.
    const items = Array.isArray(turn.items) ? turn.items.filter(isItem) : [];
    return { type: "turn-end", params: { threadId, turn: { ...turn, items } }, raw };
  },
  "item/started": ({ threadId, turnId, item }, raw) =>
    areStrings(threadId, turnId) && isItem(item)
      ? { type: "item.started", threadId, turnId, item, raw }
      : undefined,
  "item/completed": ({ threadId, turnId, item }, raw) =>
    areStrings(threadId, turnId) && isItem(item)
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
    areStrings(threadId, turnId) && Array.isArray(plan)
      ? { type: "plan.updated", threadId, turnId, plan, explanation, raw }
      : undefined,
  "turn/diff/updated": ({ threadId, turnId, diff }, raw) =>
    areStrings(threadId, turnId, diff) ? { type: "diff.updated", threadId, turnId, diff, raw } : undefined,
  "thread/tokenUsage/updated": (params, raw) => {
    const { threadId, turnId, tokenUsage } = params;
    return areStrings(threadId, turnId) && isCount(tokenUsage.total) && isCount(tokenUsage.last)
      ? { type: "usage", params, raw }
      : undefined;
  },
  error: ({ error, threadId, turnId, willRetry }, raw) =>
    // The end of a turn repeats its final error. Only an error that Codex retries is a warning.
    willRetry ? warning("retrying", error.message, { threadId, turnId }, raw) : notice(raw),
  warning: ({ message, threadId }, raw) => warning("server", message, { threadId }, raw),
  guardianWarning: ({ message, threadId }, raw) => warning("guardian", message, { threadId }, raw),
  deprecationNotice: ({ summary, details }, raw) =>
    warning("deprecation", joinDetails(summary, details), {}, raw),
  configWarning: ({ summary, details }, raw) => warning("config", joinDetails(summary, details), {}, raw),
  "model/rerouted": ({ fromModel, toModel, threadId, turnId }, raw) => {
    if (!areStrings(fromModel, toModel)) return undefined;
    const message = `${toModel} is answering instead of ${fromModel}.`;
    return {
      type: "warning",
      kind: "model_rerouted",
      message,
      model: toModel,
      ...idsOf({ threadId, turnId }),
      raw,
    };
  },
} satisfies Parsers;

/** Notifications with a dedicated event type. */
export type MappedMethod = keyof typeof PARSERS;

const parsers = new Map<string, (params: never, raw: RawMessage) => ParsedNotification | undefined>(
  Object.entries(PARSERS),
);

/**
 * Parses one notification. A known one without a parser becomes a `notice`; an unknown or unexpectedly shaped one
 * becomes `unknown`. Both carry the raw message.
 */
export function parseNotification(raw: RawMessage): ParsedNotification {
  if (isNotice(raw.method)) return notice(raw);
  const parse = parsers.get(raw.method);
  if (parse && typeof raw.params === "object" && raw.params !== null) {
    try {
      const parsed = parse(raw.params as never, raw);
      if (parsed) return parsed;
    } catch {
      // The shape has changed in this release: passed on as `unknown`.
    }
  }
  return { type: "unknown", ...idsOf(raw.params), raw };
}

function notice(raw: RawMessage): NoticeEvent {
  return { type: "notice", ...idsOf(raw.params), raw };
}

function areStrings(...values: unknown[]): boolean {
  return values.every((value) => typeof value === "string");
}

function isItem(item: v2.ThreadItem | null | undefined): boolean {
  return areStrings(item?.id, item?.type);
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
  if (typeof text !== "string" || !areStrings(threadId, turnId, itemId)) return undefined;
  const event = { type: "item.delta", threadId, turnId, itemId, kind, delta: text } as const;
  return typeof index === "number" ? { ...event, index } : event;
}

interface Ids {
  readonly threadId?: string | null;
  readonly turnId?: string | null;
}

function warning(kind: WarningKind, message: string, ids: Ids, raw: RawMessage): WarningEvent | undefined {
  if (typeof message !== "string") return undefined;
  return { type: "warning", kind, message, ...idsOf(ids), raw };
}

function idsOf(params: unknown): { threadId?: string; turnId?: string } {
  const { threadId, turnId } = (params ?? {}) as { threadId?: unknown; turnId?: unknown };
  return {
    ...(typeof threadId === "string" ? { threadId } : {}),
    ...(typeof turnId === "string" ? { turnId } : {}),
  };
}

function joinDetails(summary: string, details: string | null): string {
  return areStrings(summary, details) ? `${summary}: ${details}` : summary;
}
