import { afterEach, expect, test, vi } from "vitest";
import { AuditLog } from "./audit-log.ts";

afterEach(() => {
  vi.useRealTimers();
});

test("writes all events except refusals beyond the rate, which it counts", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const lines: { audit: string; omitted?: number }[] = [];
  const audit = AuditLog.to({ write: (line) => void lines.push(JSON.parse(line) as never) }, 3);
  for (let refusal = 0; refusal < 10; refusal++) audit.recordRefusal({ reason: "unauthorized" });
  for (let event = 0; event < 10; event++) audit.record({ event: "executor.connected" });
  const refusals = () => lines.filter((line) => line.audit === "request.refused");
  expect([refusals().length, lines.length]).toEqual([3, 13]);
  vi.advanceTimersByTime(60_000);
  audit.recordRefusal({ reason: "unauthorized" });
  audit.recordRefusal({ reason: "unauthorized" });
  expect(refusals().map(({ omitted }) => omitted)).toEqual([undefined, undefined, undefined, 7, undefined]);
});
