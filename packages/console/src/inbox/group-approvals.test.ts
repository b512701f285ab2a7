import { describe, expect, it } from "vitest";
import { approvalOf, commandRequest } from "../approvals/approval.fixture.ts";
import { countKinds, groupApprovals, neighbourOf, nextWaiting } from "./group-approvals.ts";

const question = { kind: "userInput", questions: [], isBlocking: true } as const;
const approvals = [
  approvalOf(commandRequest, { id: "c", sessionId: "two", createdAt: 30 }),
  approvalOf(commandRequest, { id: "b", sessionId: "one", createdAt: 20 }),
  approvalOf(question, { id: "a", sessionId: "two", createdAt: 10 }),
];

describe("groupApprovals", () => {
  it("lists the session that has waited longest first, with its oldest request first", () => {
    expect(groupApprovals(approvals)).toEqual([
      { sessionId: "two", ids: ["a", "c"] },
      { sessionId: "one", ids: ["b"] },
    ]);
  });

  it("keeps the order when one of them is answered", () => {
    const answered = approvals.map((approval) => ({ ...approval, state: "delivered" as const }));
    expect(groupApprovals(answered)).toEqual(groupApprovals(approvals));
  });
});

describe("countKinds", () => {
  it("counts open approvals per kind", () => {
    expect(countKinds(approvals)).toEqual([
      ["command", 2],
      ["userInput", 1],
    ]);
  });
});

describe("neighbourOf", () => {
  it("moves by one, stops at the ends, and starts at an end without a focus", () => {
    const ids = ["a", "b", "c"];
    expect([neighbourOf(ids, "a", 1), neighbourOf(ids, "c", 1), neighbourOf(ids, "a", -1)]).toEqual([
      "b",
      "c",
      "a",
    ]);
    expect([neighbourOf(ids, undefined, 1), neighbourOf(ids, "gone", -1), neighbourOf([], "a", 1)]).toEqual([
      "a",
      "c",
      undefined,
    ]);
  });
});

describe("nextWaiting", () => {
  it("searches below first, then from the top", () => {
    const ids = ["a", "b", "c"];
    expect(nextWaiting(ids, "b", (id) => id !== "b")).toBe("c");
    expect(nextWaiting(ids, "b", (id) => id === "a")).toBe("a");
    expect(nextWaiting(ids, "b", () => false)).toBeUndefined();
  });
});
