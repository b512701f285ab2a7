import type { PolicyVerdict } from "../api/approval.ts";
import type { historyRoutes } from "../api/routes/history.ts";
import type { SessionSettings } from "../api/settings.ts";
import { DaemonError } from "../errors.ts";
import type { Handlers, HttpServices } from "./handler.ts";
import { viewItem, viewTurn } from "../views.ts";

/** Evaluates a command with the settings of a session. */
export type TestCommand = (
  settings: SessionSettings,
  request: { readonly cwd: string; readonly command: string },
) => PolicyVerdict;

type HistoryHandlers = Omit<
  Handlers<keyof typeof historyRoutes>,
  "GET /events" | "GET /sessions/{sessionId}/events"
>;

export function createHistoryHandlers({ database }: HttpServices, testCommand: TestCommand): HistoryHandlers {
  const { journal, sessions } = database;
  return {
    "GET /sessions/{sessionId}/items": async ({ params: { sessionId }, query }) => {
      await sessions.require(sessionId);
      const { before, limit, turnId, threadId } = query;
      const rows = await journal.items(sessionId, {
        ...(before !== undefined && { before }),
        ...(turnId !== undefined && { turnId }),
        ...(threadId !== undefined && { threadId }),
        limit,
      });
      return { data: rows.map(viewItem), next: nextPosition(rows, limit) };
    },
    "GET /sessions/{sessionId}/items/{itemId}/body": async ({ params: { sessionId, itemId }, query }) => {
      await sessions.require(sessionId);
      const { path, ...range } = query;
      const body = await journal.itemBody(sessionId, itemId, {
        ...range,
        ...(path !== undefined && { path }),
      });
      if (!body) throw new DaemonError("not_found", `The session has no text for an item "${itemId}".`);
      const end = body.offset + body.text.length;
      return { ...body, next: end < body.length ? end : null };
    },
    "GET /sessions/{sessionId}/turns": async ({ params: { sessionId }, query: { before, limit } }) => {
      await sessions.require(sessionId);
      const { rows } = await journal.turns(sessionId, { ...(before !== undefined && { before }), limit });
      return { data: rows.map(viewTurn), next: nextPosition(rows, limit) };
    },
    "GET /sessions/{sessionId}/plan": async ({ params: { sessionId } }) => {
      await sessions.require(sessionId);
      const event = await journal.latest(sessionId, "plan.updated");
      if (!event) return { turnId: null, plan: [], explanation: null };
      return { turnId: event.turnId, plan: [...event.plan], explanation: event.explanation };
    },
    "GET /sessions/{sessionId}/diff": async ({ params: { sessionId }, query: { turnId } }) => {
      await sessions.require(sessionId);
      const event = await journal.latest(sessionId, "diff.updated", turnId);
      return { turnId: event?.turnId ?? null, diff: event?.diff ?? "" };
    },
    "GET /sessions/{sessionId}/usage": async ({ params: { sessionId } }) => {
      const { usage } = await sessions.require(sessionId);
      return { total: usage === null ? null : (JSON.parse(usage) as never) };
    },
    "POST /sessions/{sessionId}/policy/test": async ({ params: { sessionId }, body: { command, cwd } }) => {
      const session = await sessions.require(sessionId);
      const settings = JSON.parse(session.settings) as SessionSettings;
      return testCommand(settings, { command, cwd: cwd ?? session.cwd });
    },
  };
}

/** If a page is full, another page may follow it. Its position is the one of the oldest row. */
function nextPosition(rows: readonly { readonly first_seq: number }[], limit: number): number | null {
  return rows.length < limit ? null : (rows.at(-1)?.first_seq ?? null);
}
