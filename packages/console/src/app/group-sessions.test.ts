import type { Session } from "@codexkit/daemon/client";
import { expect, it } from "vitest";
import { groupSessions, sessionTitle } from "./group-sessions.ts";

const now = new Date(2026, 10, 17, 12).getTime();

function session(id: string, changes: Partial<Session>): Session {
  const fixed = { name: null, preview: "", cwd: "/srv/app", archivedAt: null, updatedAt: now, phase: "idle" };
  return { id, ...fixed, ...changes } as unknown as Session;
}

it("lists what waits first, and idle sessions by day", () => {
  const groups = groupSessions(
    [
      session("old", { updatedAt: now - 5 * 86_400_000 }),
      session("today", {}),
      session("yesterday", { updatedAt: now - 86_400_000 }),
      session("busy", { phase: "running" }),
      session("parked", { phase: "parked" }),
      session("archived", { archivedAt: 1 }),
      session("broken", { phase: "failed" }),
    ],
    now,
  );
  expect(groups.map(({ label, sessions }) => [label, sessions.map(({ id }) => id)])).toEqual([
    ["Waiting", ["parked"]],
    ["Running", ["busy"]],
    ["Problems", ["broken"]],
    ["Today", ["today"]],
    ["Yesterday", ["yesterday"]],
    ["Earlier", ["old"]],
  ]);
});

it("names a session by its name, its newest message or its folder", () => {
  expect(sessionTitle(session("a", { name: "Fix", preview: "hello" }))).toBe("Fix");
  expect(sessionTitle(session("a", { preview: "hello" }))).toBe("hello");
  expect(sessionTitle(session("a", {}))).toBe("app");
});
