import type { v2 } from "@codexkit/protocol";
import { SERVER_REQUEST_METHODS } from "@codexkit/protocol";
import { afterEach, describe, expect, it, vi } from "vitest";
import { mcpToolApproval } from "../../test/server-requests.ts";
import { decisions } from "./decisions.ts";
import type { ServerRequestHandlers } from "./handlers.ts";
import { type Method, openBroker, settle, types } from "../../test/request-broker.ts";

const command = "item/commandExecution/requestApproval";

afterEach(() => {
  vi.useRealTimers();
});

describe("a handler", () => {
  const answers: { [M in Method]: { handlers: ServerRequestHandlers; sent: unknown } } = {
    [command]: { handlers: { commandApproval: () => "accept" }, sent: { decision: "accept" } },
    "item/fileChange/requestApproval": {
      handlers: { fileChangeApproval: async ({ reason }) => (reason ? "decline" : "acceptForSession") },
      sent: { decision: "acceptForSession" },
    },
    "item/permissions/requestApproval": {
      handlers: { permissionsApproval: () => decisions.grant({ network: { enabled: true } }) },
      sent: { permissions: { network: { enabled: true } }, scope: "turn" },
    },
    "item/tool/requestUserInput": {
      handlers: { userInput: () => ({ colour: "blue", pin: ["1234"] }) },
      sent: { answers: { colour: { answers: ["blue"] }, pin: { answers: ["1234"] } } },
    },
    "mcpServer/elicitation/request": {
      handlers: { elicitation: () => ({ action: "accept", content: { name: "Bo" } }) },
      sent: { action: "accept", content: { name: "Bo" }, _meta: null },
    },
    "item/tool/call": {
      handlers: { toolCall: () => ({ success: true, contentItems: [] }) },
      sent: { success: true, contentItems: [] },
    },
    "account/chatgptAuthTokens/refresh": {
      handlers: { refreshAuthTokens: () => ({ accessToken: "new", chatgptAccountId: "a1" }) },
      sent: { accessToken: "new", chatgptAccountId: "a1", chatgptPlanType: null },
    },
    "attestation/generate": { handlers: { attestation: () => "token" }, sent: { token: "token" } },
    "currentTime/read": {
      handlers: { currentTime: () => new Date(5_900) },
      sent: { currentTimeAt: 5 },
    },
    applyPatchApproval: { handlers: { applyPatchApproval: () => "accept" }, sent: { decision: "approved" } },
    execCommandApproval: { handlers: { execCommandApproval: () => "cancel" }, sent: { decision: "abort" } },
  };

  it.each(Object.entries(answers))("answers %s", async (method, { handlers, sent }) => {
    const { receive, events } = openBroker(handlers);
    await expect(receive(method as Method)).resolves.toEqual(sent);
    expect(types(events)).not.toContain("warning");
  });

  it.each(Object.entries(answers))(
    "that returns an invalid answer is treated like a missing one: %s",
    async (method, { handlers }) => {
      const [slot = ""] = Object.keys(handlers);
      const denied = JSON.stringify(await settle(openBroker().receive(method as Method)));
      for (const value of [undefined, null, 7, {}, { decision: {} }]) {
        // Questions may stay unanswered.
        if (slot === "userInput" && JSON.stringify(value) === "{}") continue;
        const { receive, events } = openBroker({ [slot]: () => value });
        const sent = JSON.stringify(await settle(receive(method as Method)));
        // The text may differ, but not its meaning.
        const meaning = (text: string): string => text.replaceAll(/(no|a) handler [^"]*/g, "…");
        expect(meaning(sent)).toBe(meaning(denied));
        expect(events).toContainEqual(expect.objectContaining({ kind: "request_handler_failed" }));
      }
    },
  );

  it("that throws or rejects causes a denial, and the warning has its message", async () => {
    const broken: ServerRequestHandlers[] = [
      {
        commandApproval: () => {
          throw new Error("the screen is off");
        },
      },
      { commandApproval: async () => Promise.reject(new Error("the screen is off")) },
    ];
    for (const handlers of broken) {
      const { receive, events } = openBroker(handlers);
      await expect(receive(command)).resolves.toEqual({ decision: "decline" });
      expect(types(events)).toEqual(["approval.requested", "warning", "approval.resolved"]);
      expect(events[1]).toMatchObject({
        kind: "request_handler_failed",
        threadId: "t1",
        turnId: "u1",
        message: expect.stringContaining("the screen is off"),
      });
    }
  });

  it("gets a request with all known details", async () => {
    const item = {
      type: "fileChange",
      id: "i1",
      changes: [{ path: "a", kind: { type: "add" }, diff: "+a" }],
    } as unknown as v2.ThreadItem;
    const commandApproval = vi.fn<NonNullable<ServerRequestHandlers["commandApproval"]>>(() => "accept");
    const fileChangeApproval = vi.fn<NonNullable<ServerRequestHandlers["fileChangeApproval"]>>(
      () => "accept",
    );
    const mcpApproval = vi.fn<NonNullable<ServerRequestHandlers["mcpToolApproval"]>>(() => "accept");
    const { receive } = openBroker(
      { commandApproval, fileChangeApproval, mcpToolApproval: mcpApproval },
      { itemFor: (threadId, itemId) => (threadId === "t1" && itemId === "i1" ? item : undefined) },
    );
    await receive(command, 1);
    await receive("item/fileChange/requestApproval", 2);
    await receive("mcpServer/elicitation/request", 3, mcpToolApproval);
    expect(commandApproval.mock.calls[0]?.[0]).toMatchObject({
      kind: "command",
      requestId: 1,
      action: "command",
      command: "/bin/bash -lc 'npm test'",
      reason: "why not",
      actions: [{ type: "unknown", command: "npm test" }],
      proposedPrefix: ["npm", "test"],
      network: undefined,
      item,
    });
    expect(commandApproval.mock.calls[0]?.[1]).toMatchObject({ requestId: 1, threadId: "t1", turnId: "u1" });
    expect(fileChangeApproval.mock.calls[0]?.[0]).toMatchObject({ changes: [{ diff: "+a" }] });
    expect(mcpApproval.mock.calls[0]?.[0]).toMatchObject({
      server: "till",
      tool: "pay",
      title: "Pay somebody",
      description: "Sends money",
      arguments: { amount: 3 },
      persist: ["session", "always"],
    });
  });

  it("keeps its object as `this`", async () => {
    class Person {
      readonly mood = "accept";
      approve(): "accept" {
        return this.mood;
      }
    }
    await expect(openBroker(new Person()).receive(command)).resolves.toEqual({ decision: "accept" });
  });

  it("for one kind is asked before `approve`, and a passed request goes to the next handler", async () => {
    const asked: string[] = [];
    const { receive, events } = openBroker([
      {
        commandApproval: () => (asked.push("slot of the thread"), "pass"),
        approve: ({ kind }) => (asked.push(`approve of the thread: ${kind}`), { decision: "pass" as never }),
      },
      {
        commandApproval: () => (
          asked.push("slot of the connection"),
          { decision: "accept", reason: "seen before" }
        ),
        approve: () => (asked.push("never"), "accept"),
      },
    ]);
    await expect(receive(command)).resolves.toEqual({ decision: "accept" });
    expect(asked).toEqual(["slot of the thread", "approve of the thread: command", "slot of the connection"]);
    expect(events.at(-1)).toMatchObject({
      outcome: { by: "handler", decision: "accept", reason: "seen before" },
    });
  });

  it("causes a denial if it passes and so do all others", async () => {
    const { receive, events } = openBroker([{ approve: () => "pass" }, { approve: () => "pass" }]);
    await expect(receive("item/fileChange/requestApproval")).resolves.toEqual({ decision: "decline" });
    expect(events).toContainEqual(expect.objectContaining({ kind: "unanswered_request" }));
  });

  it("for all approvals gets each kind, and no questions", async () => {
    const kinds: string[] = [];
    const { receive } = openBroker({ approve: ({ kind }) => (kinds.push(kind), "accept") });
    for (const [index, method] of SERVER_REQUEST_METHODS.entries()) {
      await receive(method, index).catch(() => undefined);
    }
    await receive("mcpServer/elicitation/request", 99, mcpToolApproval);
    expect(kinds.toSorted()).toEqual(
      ["command", "fileChange", "legacyCommand", "legacyPatch", "mcpTool", "permissions"].toSorted(),
    );
  });

  it("has its decision weakened if it is not offered, and the event gives the reason", async () => {
    const { receive, events } = openBroker({ commandApproval: () => "acceptForSession" });
    await expect(receive(command)).resolves.toEqual({ decision: "accept" });
    expect(events.at(-1)).toMatchObject({
      outcome: { decision: "accept", reason: "acceptForSession is not offered for this command" },
    });
  });

  it.each([
    ["accept", ["session", "always"], "accept", null],
    ["acceptForSession", ["session", "always"], "accept", { persist: "session" }],
    ["acceptForSession", "always", "accept", null],
    ["acceptAlways", ["session", "always"], "accept", { persist: "always" }],
    ["acceptAlways", "session", "accept", { persist: "session" }],
    ["acceptAlways", undefined, "accept", null],
    ["decline", ["session"], "decline", null],
    ["cancel", ["session"], "cancel", null],
  ] as const)("for MCP tools may decide %s if %s is offered", async (decision, persist, action, meta) => {
    const { receive } = openBroker({ mcpToolApproval: () => decision });
    const params = { ...mcpToolApproval, _meta: { codex_approval_kind: "mcp_tool_call", persist } };
    await expect(receive("mcpServer/elicitation/request", 0, params)).resolves.toEqual({
      action,
      content: null,
      _meta: meta,
    });
  });

  it("may not return invalid form values or answers to other questions", async () => {
    const { receive } = openBroker({
      elicitation: () => ({ action: "accept", content: { name: 5 } }),
      userInput: () => ({ size: "big" }),
    });
    await expect(receive("mcpServer/elicitation/request", 1)).resolves.toMatchObject({ action: "decline" });
    await expect(receive("item/tool/requestUserInput", 2)).resolves.toEqual({ answers: {} });
  });

  it("has its secret answers hidden from the event", async () => {
    const { receive, events } = openBroker({ userInput: () => ({ colour: "blue", pin: "1234" }) });
    await receive("item/tool/requestUserInput");
    expect(JSON.stringify(events)).not.toContain("1234");
    expect(events.at(-1)).toMatchObject({
      outcome: { response: { answers: { colour: { answers: ["blue"] }, pin: { answers: ["[secret]"] } } } },
    });
  });

  it("that exceeds the timeout causes a denial", async () => {
    vi.useFakeTimers();
    let seen: AbortSignal | undefined;
    const { receive, events } = openBroker(
      {
        commandApproval: (_approval, { signal }) => {
          seen = signal;
          return new Promise(() => {});
        },
      },
      { approvalTimeoutMs: 1000 },
    );
    const asked = receive(command);
    await vi.advanceTimersByTimeAsync(1000);
    await expect(asked).resolves.toEqual({ decision: "decline" });
    expect(seen?.aborted).toBe(true);
    expect(types(events)).toEqual(["approval.requested", "warning", "approval.resolved"]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("that is slow does not delay others", async () => {
    const first = Promise.withResolvers<"accept">();
    const { receive, broker } = openBroker({
      commandApproval: ({ requestId }) => (requestId === 1 ? first.promise : "accept"),
    });
    const slow = receive(command, 1);
    await expect(receive(command, 2)).resolves.toEqual({ decision: "accept" });
    expect(broker.pendingCount).toBe(1);
    first.resolve("accept");
    await expect(slow).resolves.toEqual({ decision: "accept" });
    expect(broker.pendingCount).toBe(0);
  });
});
