import type { Session, SessionEvent, TurnSummary } from "@codexkit/daemon/client";

export type TokenUsage = NonNullable<Session["usage"]>;

/** Entered prices, in dollars per million tokens. Codex reports none. */
export interface Prices {
  readonly input: number;
  readonly cachedInput: number;
  readonly output: number;
}

/** Computes the cost of tokens. Cached tokens are included in the input. */
export function costOf(usage: TokenUsage, prices: Prices): number {
  const fresh = Math.max(0, usage.inputTokens - usage.cachedInputTokens);
  const dollars =
    fresh * prices.input + usage.cachedInputTokens * prices.cachedInput + usage.outputTokens * prices.output;
  return dollars / 1_000_000;
}

export function formatCost(dollars: number): string {
  if (dollars > 0 && dollars < 0.01) return "< $0.01";
  return `$${dollars.toFixed(2)}`;
}

export interface SessionUsage {
  readonly session: Session;
  readonly usage: TokenUsage;
  /** Fraction of the largest session's tokens, 0 to 1, for the bar. */
  readonly share: number;
}

/** Sessions that have used tokens, in descending order. */
export function rankByUsage(sessions: readonly Session[]): readonly SessionUsage[] {
  const used = sessions.flatMap((session) => {
    const { usage } = session;
    return usage && usage.totalTokens > 0 ? [{ session, usage }] : [];
  });
  const ranked = used.toSorted((a, b) => b.usage.totalTokens - a.usage.totalTokens);
  const largest = ranked[0]?.usage.totalTokens ?? 1;
  return ranked.map(({ session, usage }) => ({ session, usage, share: usage.totalTokens / largest }));
}

export function addUsage(usages: readonly TokenUsage[]): TokenUsage {
  const total = {
    totalTokens: 0,
    inputTokens: 0,
    cachedInputTokens: 0,
    cacheWriteInputTokens: 0,
    outputTokens: 0,
    reasoningOutputTokens: 0,
  };
  for (const usage of usages) {
    for (const name of Object.keys(total) as (keyof TokenUsage)[]) total[name] += usage[name];
  }
  return total;
}

export interface DayUse {
  /** Midnight of the day, in the time zone of this device. */
  readonly day: number;
  readonly turns: number;
  readonly usage: TokenUsage;
}

/** Tokens of the turns that began on each day, newest first. */
export function usageByDay(turns: readonly Pick<TurnSummary, "startedAt" | "usage">[]): readonly DayUse[] {
  const used = turns.flatMap(({ startedAt, usage }) => (usage ? [{ startedAt, usage }] : []));
  const days = Map.groupBy(used, ({ startedAt }) => new Date(startedAt).setHours(0, 0, 0, 0));
  return Array.from(days, ([day, ofDay]) => ({
    day,
    turns: ofDay.length,
    usage: addUsage(ofDay.map(({ usage }) => usage)),
  })).toSorted((one, other) => other.day - one.day);
}

export interface BudgetUse {
  readonly label: string;
  readonly used: number;
  readonly limit: number;
}

/** A session's usage of each of its limits. */
export function budgetUse({
  settings: { budget },
  usage,
}: Pick<Session, "settings" | "usage">): readonly BudgetUse[] {
  const limits = [
    { label: "all tokens", limit: budget?.totalTokens, used: usage?.totalTokens },
    { label: "input", limit: budget?.inputTokens, used: usage?.inputTokens },
    { label: "output", limit: budget?.outputTokens, used: usage?.outputTokens },
  ];
  return limits.flatMap(({ label, limit, used }) =>
    limit === undefined ? [] : [{ label, limit, used: used ?? 0 }],
  );
}

export interface ContextUse {
  /** Tokens of the newest request to the model, which are the contents of the context. */
  readonly used: number;
  readonly window: number;
}

/**
 * Computes the usage of the context window. Each event has the total of the thread, so the size of the newest request is the
 * difference between the last two events.
 */
export function contextUse(events: Iterable<SessionEvent>): ContextUse | undefined {
  let previous = 0;
  let result: ContextUse | undefined;
  let threadId: string | undefined;
  for (const event of events) {
    if (event.type !== "usage.updated") continue;
    // Agents have their own threads and contexts. The session's thread is the first one.
    threadId ??= event.threadId;
    if (event.threadId !== threadId) continue;
    const total = event.total.totalTokens;
    if (event.contextWindow !== null && total > previous) {
      result = { used: total - previous, window: event.contextWindow };
    }
    previous = total;
  }
  return result;
}
