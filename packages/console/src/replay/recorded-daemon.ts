import { DaemonClient, longestText, type Problem, type SessionEvent, textAt } from "@codexkit/daemon/client";
import type { ExportedSession } from "./read-export.ts";

/** Events before the current position of the replay. */
type PastEvents = () => readonly SessionEvent[];

/**
 * A client that reads from a file instead of a daemon. It serves the session without its history, because the events are
 * replayed. Texts of items that the transcript truncates are read from the events.
 */
export function createRecordedClient({ session }: ExportedSession, past: PastEvents): DaemonClient {
  const respond = (path: string, query: URLSearchParams): unknown => {
    const body = /^\/sessions\/[^/]+\/items\/([^/]+)\/body$/.exec(path)?.[1];
    if (body !== undefined) return readBody(past(), decodeURIComponent(body), query);
    switch (path.replace(/^\/sessions\/[^/]+/, "/session")) {
      case "/session":
        return replayedSession(session);
      case "/session/items":
      case "/session/turns":
      case "/inbox":
        return { data: [], next: null };
      case "/session/commands":
        return { data: [] };
      case "/session/plan":
        return { turnId: null, plan: [], explanation: null };
      case "/session/diff":
        return findDiff(past(), query.get("turnId"));
      default:
        return undefined;
    }
  };
  return new DaemonClient({
    url: "http://replay.invalid",
    fetch: async (input, init) => {
      const url = new URL(input instanceof Request ? input.url : input);
      const result = (init?.method ?? "GET") === "GET" ? respond(url.pathname, url.searchParams) : undefined;
      return result === undefined
        ? new Response(JSON.stringify(REFUSAL), {
            status: REFUSAL.status,
            headers: { "content-type": "application/problem+json" },
          })
        : Response.json(result);
    },
  });
}

const REFUSAL: Problem = {
  type: "read_only",
  title: "Read only",
  status: 403,
  detail: "This is a replay of a file: nothing can be changed, and files and terminals are not part of it.",
};

function replayedSession(session: ExportedSession["session"]): object {
  return {
    ...session,
    phase: "idle",
    problem: null,
    activeTurnId: null,
    usage: null,
    archivedAt: null,
    createdAt: 0,
    updatedAt: 0,
    priority: 0,
    node: null,
    epoch: 0,
    firstSeq: 1,
    lastSeq: 0,
    codexVersion: null,
  };
}

/** The diff of a turn, or the newest one. */
function findDiff(events: readonly SessionEvent[], turnId: string | null): object {
  const found = events.findLast(
    (event) => event.type === "diff.updated" && (turnId === null || event.turnId === turnId),
  );
  return found?.type === "diff.updated"
    ? { turnId: found.turnId, diff: found.diff }
    : { turnId: null, diff: "" };
}

function readBody(events: readonly SessionEvent[], itemId: string, query: URLSearchParams): unknown {
  const found = events.findLast((event) => event.type === "item.completed" && event.item.id === itemId);
  if (found?.type !== "item.completed") return undefined;
  const path = query.get("path");
  const whole = path === null ? longestText(found.item) : textAt(found.item, path);
  if (whole === undefined) return undefined;
  const offset = Number(query.get("offset") ?? 0);
  const text = whole.slice(offset, offset + Number(query.get("limit") ?? 65_536));
  const end = offset + text.length;
  return { text, offset, length: whole.length, next: end < whole.length ? end : null };
}
