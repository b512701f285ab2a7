import { definePolicy, evaluatePolicy } from "@codexkit/approvals";
import { describe, expect, it } from "vitest";
import { type CommandApproval, parseCommandApproval } from "./command-approval.ts";
import type { ServerRequestHandlers } from "./handlers.ts";
import { toApprovalRequest } from "./to-approval-request.ts";

/** The approval that Codex requests for input, with the quotes that Codex uses. */
function approvalOf(quoted: string): Promise<CommandApproval> {
  const asked = Promise.withResolvers<CommandApproval>();
  const request = parseCommandApproval(
    {
      kind: "writeStdin",
      threadId: "thread",
      turnId: "turn",
      itemId: "item",
      approvalId: "call",
      startedAtMs: 0,
      environmentId: null,
      command: `write_stdin --session-id 4 ${quoted}`,
    },
    { requestId: 0, itemFor: () => undefined, itemsOf: () => [], claimCall: () => true, now: () => 0 },
  );
  const handlers: ServerRequestHandlers = {
    commandApproval: (approval) => (asked.resolve(approval), "decline"),
  };
  for (const ask of request.asks(handlers))
    ask?.({ requestId: 0, threadId: "thread", turnId: "turn", signal: new AbortController().signal });
  return asked.promise;
}

describe("input for a running command", () => {
  it.each([
    ["a", "a"],
    ["'y\n'", "y\n"],
    [`"it's\n"`, "it's\n"],
    [`"it's "'$HOME "x" \`a\` '"\\\\ \n"`, `it's $HOME "x" \`a\` \\ \n`],
    ["a b", undefined],
    ["$(id)", undefined],
  ])("is read from %j", async (quoted, input) => {
    expect((await approvalOf(quoted)).input).toBe(input);
  });

  it("is what a policy evaluates", async () => {
    const policy = definePolicy({ additionalAllow: [{ kind: "script", text: "yes\n", stdin: true }] });
    const evaluate = async (quoted: string) =>
      evaluatePolicy(policy, toApprovalRequest(await approvalOf(quoted), "/work")).decision;
    expect(await evaluate("'yes\n'")).toBe("allow");
    expect(await evaluate("'no\n'")).toBe("ask");
    expect(await evaluate("'rm -rf /\n'")).toBe("deny");
  });
});
