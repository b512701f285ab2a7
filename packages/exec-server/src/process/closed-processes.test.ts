import { expect, test, vi } from "vitest";
import { type ClosedProcess, ClosedProcesses } from "./closed-processes.ts";
import { ReplayBuffer } from "./replay-buffer.ts";

const LIMITS = { closedRetainedBytes: 100, closedRetentionMs: 1_000 };
const CONNECTED = { isConnected: true };

function closed(bytes: number): ClosedProcess {
  const replay = new ReplayBuffer(1_000, 10);
  if (bytes > 0) replay.push({ seq: 1, stream: "stdout", bytes: Buffer.alloc(bytes) });
  return { replay, nextSeq: 4, exitCode: 0, sandboxDenied: false, hasStdin: false };
}

test("beyond the budget the oldest lose their output, and stay readable", () => {
  const processes = new ClosedProcesses(LIMITS);
  processes.add("first", closed(60), CONNECTED);
  processes.add("silent", closed(0), CONNECTED);
  processes.add("second", closed(60), CONNECTED);
  expect(processes.get("first")?.replay.bytes).toBe(0);
  expect(processes.get("second")?.replay.bytes).toBe(60);
  expect(processes.size).toBe(3);
  processes.clear();
});

test("without a connected client, output stays", () => {
  const processes = new ClosedProcesses(LIMITS);
  processes.add("first", closed(60), { isConnected: false });
  processes.add("second", closed(60), { isConnected: false });
  expect(processes.get("first")?.replay.bytes).toBe(60);
  processes.clear();
});

test("each is forgotten when its own time is over", () => {
  vi.useFakeTimers();
  const processes = new ClosedProcesses(LIMITS);
  processes.add("first", closed(10), CONNECTED);
  vi.advanceTimersByTime(600);
  processes.add("second", closed(10), CONNECTED);
  vi.advanceTimersByTime(401);
  expect(processes.get("first")).toBeUndefined();
  expect(processes.get("second")).toBeDefined();
  vi.advanceTimersByTime(600);
  expect(processes.size).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

test("a process that has expired already is forgotten without a warning", async () => {
  const warnings: string[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning.name);
  process.on("warning", onWarning);
  const processes = new ClosedProcesses({ ...LIMITS, closedRetentionMs: -50 });
  processes.add("expired", closed(10), CONNECTED);
  await expect.poll(() => processes.size).toBe(0);
  process.off("warning", onWarning);
  expect(warnings).toEqual([]);
});
