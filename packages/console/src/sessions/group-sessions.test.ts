import type { Session } from "@codexkit/daemon/client";
import { expect, test } from "vitest";
import { formatAge, groupSessions } from "./group-sessions.ts";
import { sessionTitle } from "../settings/session-title.ts";

const NOW = new Date(2026, 10, 17, 9, 30).getTime();
const HOUR = 3_600_000;

function session(id: string, phase: Session["phase"], ageMs: number): Session {
  return { id, phase, updatedAt: NOW - ageMs, name: null, preview: "", cwd: "/srv/app" } as Session;
}

test("groups by required attention, then by age, with the longest wait first", () => {
  const groups = groupSessions(
    [
      session("old", "idle", 300 * HOUR),
      session("pinned", "idle", 400 * HOUR),
      session("yesterday", "idle", 12 * HOUR),
      session("today", "idle", HOUR),
      session("week", "idle", 80 * HOUR),
      session("waits briefly", "waiting", 1000),
      session("waits long", "parked", 50 * HOUR),
      session("runs", "running", 2000),
      session("broken", "failed", 500 * HOUR),
    ],
    { now: NOW, pinned: new Set(["pinned", "runs"]) },
  );
  expect(groups.map(({ name, sessions }) => [name, sessions.map(({ id }) => id)])).toEqual([
    ["Waiting", ["waits long", "waits briefly"]],
    ["Running", ["runs"]],
    ["Failed", ["broken"]],
    ["Pinned", ["pinned"]],
    ["Today", ["today"]],
    ["Yesterday", ["yesterday"]],
    ["This week", ["week"]],
    ["Older", ["old"]],
  ]);
});

test("titles a session by its name, its newest message or its folder", () => {
  expect(sessionTitle({ name: "Parser", preview: "hi", cwd: "/srv/app" })).toBe("Parser");
  expect(sessionTitle({ name: null, preview: "hi", cwd: "/srv/app" })).toBe("hi");
  expect(sessionTitle({ name: null, preview: " ", cwd: "/srv/app/" })).toBe("app");
  expect(sessionTitle({ name: null, preview: "", cwd: "/" })).toBe("/");
});

test.each([
  [0, "now"],
  [12_000, "12 s"],
  [5 * 60_000, "5 min"],
  [3 * HOUR, "3 h"],
  [100 * HOUR, "4 d"],
  [-5000, "now"],
])("formats an age of %d ms", (ageMs, text) => {
  expect(formatAge(NOW - ageMs, NOW)).toBe(text);
});
