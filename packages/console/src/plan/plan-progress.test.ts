import { expect, it } from "vitest";
import { progressOf } from "./plan-progress.ts";

it("counts completed steps and names the next one", () => {
  const steps = [
    { step: "read", status: "completed" },
    { step: "write", status: "inProgress" },
    { step: "test", status: "pending" },
  ] as const;
  expect(progressOf(steps)).toEqual({ done: 1, total: 3, current: "write" });
  expect(progressOf(steps.filter(({ status }) => status !== "inProgress"))).toMatchObject({
    current: "test",
  });
  expect(progressOf(steps.slice(0, 1))).toEqual({ done: 1, total: 1, current: null });
});
