import type { Approval } from "@codexkit/daemon/client";
import { describe, expect, it } from "vitest";
import { approvalOf, commandRequest } from "./approval.fixture.ts";
import { describeOutcome, formatCountdown, isAnswerable } from "./describe-outcome.ts";

const answered: Partial<Approval> = { state: "delivered", answeredBy: "ann", answeredAt: 1_009_000 };

function outcomeOf(changes: Partial<Approval>): string | undefined {
  return describeOutcome(approvalOf(commandRequest, changes), { id: "me" })?.text;
}

describe("describeOutcome", () => {
  it.each<[Partial<Approval>, string | undefined]>([
    [{ state: "open" }, undefined],
    [{ state: "parked" }, undefined],
    [{ ...answered, answer: { type: "decision", offer: "accept" } }, "Allowed once by ann, 9 s after asking"],
    [
      { ...answered, answeredBy: "me", answer: { offer: "acceptForSession" } },
      "Allowed for the session by you, 9 s after asking",
    ],
    [{ ...answered, answer: { offer: "acceptWithPrefix" } }, "Allowed always by ann, 9 s after asking"],
    [{ ...answered, answer: { offer: "decline" } }, "Declined by ann, 9 s after asking"],
    [{ ...answered, answer: { offer: "cancel" } }, "Declined, turn stopped by ann, 9 s after asking"],
    [
      { ...answered, state: "answered", answer: { offer: "accept" } },
      "Allowed once by ann, 9 s after asking; on its way to Codex",
    ],
    [
      { ...answered, state: "answered", parkedAt: 1, answer: { offer: "accept" } },
      "Allowed once by ann, 9 s after asking; delivered when all requests of its turn have answers",
    ],
    [{ state: "withdrawn", note: "The turn ended." }, "No longer needed: The turn ended."],
    [{ state: "expired", note: null }, "Expired"],
  ])("describes %j", (changes, text) => {
    expect(outcomeOf(changes)).toBe(text);
  });

  it("describes partly granted permissions", () => {
    const approval = approvalOf(
      { kind: "permissions", cwd: "/", reason: null, permissions: { network: null, fileSystem: null } },
      { ...answered, answeredByName: "Ann's phone", answer: { offer: "accept", grant: { network: false } } },
    );
    expect(describeOutcome(approval)?.text).toBe(
      "Allowed in part for this turn by Ann's phone, 9 s after asking",
    );
  });
});

describe("isAnswerable", () => {
  it("is decided by the daemon, whatever the clock of this device says", () => {
    expect(isAnswerable(approvalOf(commandRequest, { expiresAt: 1 }))).toBe(true);
    expect(isAnswerable(approvalOf(commandRequest, { state: "parked" }))).toBe(true);
    expect(isAnswerable(approvalOf(commandRequest, { state: "answered" }))).toBe(false);
    expect(isAnswerable(approvalOf(commandRequest, { state: "expired" }))).toBe(false);
  });
});

describe("formatCountdown", () => {
  it("omits hours if there are none", () => {
    expect([288_000, 3_888_000, -1].map((ms) => formatCountdown(ms))).toEqual(["4:48", "1:04:48", "0:00"]);
  });
});
