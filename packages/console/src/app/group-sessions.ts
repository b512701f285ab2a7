import type { Session } from "@codexkit/daemon/client";

export interface SessionGroup {
  readonly label: string;
  readonly sessions: readonly Session[];
}

const DAY_MS = 86_400_000;

/** Sessions as the navigation lists them: what waits for a person first. */
export function groupSessions(sessions: readonly Session[], now: number): SessionGroup[] {
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const groups = new Map<string, Session[]>(
    ["Waiting", "Running", "Problems", "Today", "Yesterday", "Earlier"].map((label) => [label, []]),
  );
  for (const session of sessions) {
    if (session.archivedAt !== null) continue;
    groups.get(groupOf(session, midnight))?.push(session);
  }
  return [...groups]
    .filter(([, list]) => list.length > 0)
    .map(([label, list]) => ({ label, sessions: list }));
}

function groupOf({ phase, updatedAt }: Session, midnight: number): string {
  if (phase === "waiting" || phase === "parked") return "Waiting";
  if (phase === "running" || phase === "ready" || phase === "moving") return "Running";
  if (phase === "failed" || phase === "stranded") return "Problems";
  if (updatedAt >= midnight) return "Today";
  return updatedAt >= midnight - DAY_MS ? "Yesterday" : "Earlier";
}

/** Name of a session for people. */
export function sessionTitle({ name, preview, cwd }: Pick<Session, "name" | "preview" | "cwd">): string {
  if (name !== null && name !== "") return name;
  return preview === "" ? (cwd.split("/").at(-1) ?? cwd) : preview;
}
