import type { AnyApproval } from "codexkit";
import { describe, expect, test } from "vitest";
import type { InboxAnswer } from "../api/approval.ts";
import { decisionFor, offersFor } from "./offers.ts";

const command = {
  kind: "command",
  network: undefined,
  proposedPrefix: ["npm", "test"],
  proposedNetworkRules: [{ host: "example.com", action: "allow" }],
} as unknown as AnyApproval;

const permissions = { kind: "permissions", permissions: {} } as unknown as AnyApproval;

const tool = (persist: readonly string[]): AnyApproval =>
  ({ kind: "mcpTool", server: "till", tool: "pay", persist }) as unknown as AnyApproval;

describe("offers", () => {
  test("of a command say what each would store", () => {
    expect(offersFor(command).map(({ id, stores }) => [id, stores])).toEqual([
      ["accept", null],
      ["acceptForSession", "the same command"],
      ["acceptWithPrefix", "npm test"],
      ["allowHost:example.com", "example.com"],
      ["decline", null],
      ["cancel", null],
    ]);
  });

  test("of an MCP tool are those that Codex can remember", () => {
    const ids = (persist: readonly string[]): string[] => offersFor(tool(persist)).map(({ id }) => id);
    expect(ids([])).toEqual(["accept", "decline", "cancel"]);
    expect(ids(["session", "always"])).toEqual([
      "accept",
      "acceptForSession",
      "acceptAlways",
      "decline",
      "cancel",
    ]);
  });
});

describe("decisions", () => {
  test("are those of the chosen offer", () => {
    expect(decisionFor(command, { type: "decision", offer: "acceptWithPrefix" })).toEqual({
      acceptWithExecpolicyAmendment: { execpolicy_amendment: ["npm", "test"] },
    });
    expect(decisionFor(command, { type: "decision", offer: "cancel" })).toBe("cancel");
  });

  test("decline for an unknown offer and for an answer to another kind of request", () => {
    expect(decisionFor(command, { type: "decision", offer: "acceptEverything" })).toBe("decline");
    expect(decisionFor(command, { type: "answers", answers: {} })).toBe("decline");
  });

  test("grant a part of the requested permissions", () => {
    const answer: InboxAnswer = {
      type: "decision",
      offer: "acceptForSession",
      grant: { write: ["/data"] },
    };
    expect(decisionFor(permissions, answer)).toEqual({
      permissions: { fileSystem: { read: null, write: ["/data"] } },
      scope: "session",
    });
    expect(decisionFor(permissions, { ...answer, offer: "decline" })).toBe("decline");
  });
});
