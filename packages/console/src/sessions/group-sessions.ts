import type { Session } from "@codexkit/daemon/client";

export type GroupName =
  | "Pinned"
  | "Waiting"
  | "Running"
  | "Failed"
  | "Today"
  | "Yesterday"
  | "This week"
  | "Older";

export interface SessionGroup {
  readonly name: GroupName;
  readonly sessions: readonly Session[];
}

const ORDER: readonly GroupName[] = [
  "Waiting",
  "Running",
  "Failed",
  "Pinned",
  "Today",
  "Yesterday",
  "This week",
  "Older",
];

/**
 * Groups sessions by the attention that they need, then by age. Waiting sessions are sorted oldest first, because they have waited
 * longest. All others are sorted newest first: running ones by their creation, because they change all the time. Each session is
 * in one group.
 */
export function groupSessions(
  sessions: readonly Session[],
  { now, pinned }: { readonly now: number; readonly pinned: ReadonlySet<string> },
): readonly SessionGroup[] {
  const groups = Map.groupBy(sessions, (session) => groupOf(session, now, pinned));
  return ORDER.flatMap((name) => {
    const members = groups.get(name);
    if (!members) return [];
    const direction = name === "Waiting" ? 1 : -1;
    const time = name === "Running" ? "createdAt" : "updatedAt";
    return { name, sessions: members.toSorted((a, b) => direction * (a[time] - b[time])) };
  });
}

function groupOf({ id, phase, updatedAt }: Session, now: number, pinned: ReadonlySet<string>): GroupName {
  if (phase === "waiting" || phase === "parked") return "Waiting";
  if (phase === "running" || phase === "ready" || phase === "moving") return "Running";
  if (phase === "failed" || phase === "stranded") return "Failed";
  if (pinned.has(id)) return "Pinned";
  return ageOf(updatedAt, now);
}

function ageOf(at: number, now: number): GroupName {
  const today = new Date(now).setHours(0, 0, 0, 0);
  if (at >= today) return "Today";
  // Days are counted by the calendar, because a day with a clock change has 23 or 25 hours.
  const daysBefore = (days: number): number => new Date(today).setDate(new Date(today).getDate() - days);
  if (at >= daysBefore(1)) return "Yesterday";
  return at >= daysBefore(6) ? "This week" : "Older";
}

/** `now`, `12 s`, `5 min`, `3 h`, `4 d`. */
export function formatAge(at: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - at) / 1000));
  if (seconds < 5) return "now";
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`;
}
