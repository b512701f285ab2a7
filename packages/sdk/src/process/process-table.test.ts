import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import { linuxProcesses, parseStat } from "./linux-processes.ts";
import { hasMark, toMarkValue } from "./owner-mark.ts";
import { pidExists, processTable } from "./process-table.ts";
import { parsePs, psProcesses } from "./ps-processes.ts";

const tail = "1 2 3 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 777 1000 200";

describe("a line of /proc/PID/stat", () => {
  it("is parsed with any program name", () => {
    expect(parseStat(`42 (a) S) (b 9 9) S ${tail}`, "boot")).toEqual({
      pid: 42,
      parent: 1,
      group: 2,
      session: 3,
      start: "boot 777",
      startOrder: 777,
    });
  });

  it("is ignored if it is incomplete or describes a zombie", () => {
    expect(parseStat(`42 (sh) Z ${tail}`, "boot")).toBeUndefined();
    expect(parseStat("42 (sh) S 1 2", "boot")).toBeUndefined();
    expect(parseStat("", "boot")).toBeUndefined();
  });
});

describe("the output of ps", () => {
  it("is parsed without zombies and noise", () => {
    const text =
      "    1     0     1 Ss   Mon Sep  7 08:01:02 2026\n  200     1   200 Z+   Mon Sep  7 08:01:02 2026\n\nps: bad\n";
    expect(parsePs(text)).toEqual([
      {
        pid: 1,
        parent: 0,
        group: 1,
        session: undefined,
        start: "Mon Sep 7 08:01:02 2026",
        startOrder: Date.UTC(2026, 8, 7, 8, 1, 2),
      },
    ]);
  });

  it("agrees with /proc about this process", () => {
    const [byPs, byProc] = [psProcesses.one(process.pid), linuxProcesses.one(process.pid)];
    expect(byPs).toMatchObject({ pid: byProc?.pid, parent: byProc?.parent, group: byProc?.group });
    expect(psProcesses.all().map(({ pid }) => pid)).toContain(process.pid);
    expect(psProcesses.one(process.pid)?.start).toBe(byPs?.start);
  });
});

describe("the table of this machine", () => {
  it("lists a running child with its mark, but not a zombie", async () => {
    const child = spawn("sleep", ["600"], { env: { ...process.env, CODEXKIT_OWNER: "outer:mine" } });
    const table = processTable();
    const seen = table.one(child.pid ?? 0);
    expect(seen).toMatchObject({ parent: process.pid });
    // Until the child has called `exec`, its environment is the parent's.
    await expect.poll(() => table.marked("mine", table.all()).map(({ pid }) => pid)).toEqual([child.pid]);
    expect(table.marked("min", table.all())).toEqual([]);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(table.one(child.pid ?? 0)).toBeUndefined();
    expect(pidExists(child.pid ?? 0)).toBe(false);
  });

  it.runIf(process.platform === "linux")(
    "lists only a process and later ones unless pids may be reused",
    () => {
      const table = processTable();
      const forks = table.forks()?.made ?? 0;
      const child = spawn("sleep", ["600"]);
      onTestFinished(() => void child.kill("SIGKILL"));
      const first = child.pid ?? 0;
      const listed = table.since(first, forks).map(({ pid }) => pid);
      expect(listed).toContain(first);
      // If the system may have used its last pid in between, all processes are listed.
      const mayReusePids = (table.forks()?.pids ?? 0) - first < 2_000;
      expect(mayReusePids || Math.min(...listed) === first).toBe(true);
      expect(table.since(first, Number.NEGATIVE_INFINITY).map(({ pid }) => pid)).toContain(process.pid);
    },
  );

  it.runIf(process.platform === "linux")(
    "skips unrelated processes, and reports those that ended",
    async () => {
      const table = processTable();
      const forks = table.forks()?.made ?? 0;
      const [skipped, ended] = [spawn("sleep", ["600"]), spawn("sleep", ["600"])];
      onTestFinished(() => void skipped.kill("SIGKILL"));
      const first = skipped.pid ?? 0;
      const list = (): number[] =>
        table.since(first, forks, { unrelated: new Set([first]) }).map(({ pid }) => pid);
      expect(list()).toContain(ended.pid);
      expect(list()).not.toContain(first);
      ended.kill("SIGKILL");
      // A zombie has ended. It stays until this process has waited for it.
      let goneCount = 0;
      while (table.one(ended.pid ?? 0)) table.since(first, forks);
      table.since(first, forks, { onGone: () => void goneCount++ });
      expect(goneCount).toBeGreaterThan(0);
      await once(ended, "exit");
    },
  );

  it("ignores kernel threads", () => {
    const stat = "2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 25 0 0";
    expect(parseStat(stat, "boot")).toBeUndefined();
    expect(parseStat(stat.replace("2129984", "4194304"), "boot")).toMatchObject({ pid: 2, startOrder: 25 });
  });

  it("is empty on Windows", () => {
    const blind = processTable("win32");
    expect([blind.all(), blind.since(1, 0), blind.one(1), blind.forks()]).toEqual([
      [],
      [],
      undefined,
      undefined,
    ]);
  });
});

describe("a mark", () => {
  it("is not confused with one that contains it", () => {
    expect(hasMark(["A=1", "CODEXKIT_OWNER=x:abc:y"], "abc")).toBe(true);
    expect(hasMark(["CODEXKIT_OWNER=abcd", "OTHER=abc", "XCODEXKIT_OWNER=abc"], "abc")).toBe(false);
  });

  it("keeps those of its ancestors", () => {
    expect(toMarkValue("b", "a")).toBe("a:b");
    expect(toMarkValue("b", "")).toBe("b");
  });
});
