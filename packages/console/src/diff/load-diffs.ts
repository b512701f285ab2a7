import type { DaemonClient, TurnSummary } from "@codexkit/daemon/client";

export interface LoadedTurn {
  readonly title: string;
  readonly diff: string;
}

/** Turns whose diffs are loaded for the whole session: the newest ones. */
export const MAX_TURNS = 100;

/** Number of concurrent requests. */
const CONCURRENCY = 4;

export function changedTurns(turns: readonly TurnSummary[]): readonly TurnSummary[] {
  return turns.filter(({ diffStat }) => diffStat !== null && diffStat.files > 0);
}

/** Loads the diffs of turns, in their order. */
export async function loadTurnDiffs(
  client: DaemonClient,
  sessionId: string,
  turns: readonly TurnSummary[],
  signal: AbortSignal,
): Promise<readonly LoadedTurn[]> {
  const diffs: string[] = [];
  for (let start = 0; start < turns.length; start += CONCURRENCY) {
    const batch = turns.slice(start, start + CONCURRENCY).map(async ({ id }) =>
      client.request("GET /sessions/{sessionId}/diff", {
        params: { sessionId },
        query: { turnId: id },
        signal,
      }),
    );
    diffs.push(...(await Promise.all(batch)).map(({ diff }) => diff));
  }
  return turns.map(({ title, id }, index) => ({ title: title || id, diff: diffs[index] ?? "" }));
}
