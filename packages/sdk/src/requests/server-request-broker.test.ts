import type { ServerRequests, v2 } from "@codexkit/protocol";
import { SERVER_REQUEST_METHODS } from "@codexkit/protocol";
import { RequestFailure, UNANSWERED } from "@codexkit/rpc";
import { afterEach, describe, expect, it, vi } from "vitest";
import { mcpToolApproval, sampleRequests, waitingCall } from "../../test/server-requests.ts";
import { decisions } from "./decisions.ts";
import type { ServerRequestHandlers } from "./handlers.ts";
import type { RequestEvent } from "./request-events.ts";
import { ServerRequestBroker, type ServerRequestBrokerOptions } from "./server-request-broker.ts";

type Method = keyof ServerRequests;

function open(
  handlers: ServerRequestHandlers | readonly ServerRequestHandlers[] = {},
  options: Partial<ServerRequestBrokerOptions> = {},
): {
  broker: ServerRequestBroker;
  events: RequestEvent[];
  receive: (method: Method, id?: number, params?: unknown) => Promise<unknown>;
} {
  const events: RequestEvent[] = [];
  const sets = Array.isArray(handlers) ? handlers : [handlers];
  const broker = new ServerRequestBroker({
    handlersFor: () => sets as ServerRequestHandlers[],
    emit: (event) => events.push(event),
    itemsOf: () => [waitingCall({ amount: 3 }), waitingCall({}, "other")],
    ...options,
  });
  const { signal } = new AbortController();
  return {
    broker,
    events,
    receive: (method, id = 0, params = sampleRequests[method]) =>
      broker.receive({ id, method, params }, signal),
  };
}

const command = "item/commandExecution/requestApproval";
const settle = (answer: Promise<unknown>): Promise<unknown> =>
  answer.catch((error: RequestFailure) => `failed: ${error.message}`);
const types = (events: readonly RequestEvent[]): string[] => events.map(({ type }) => type);

afterEach(() => {
  vi.useRealTimers();
});

describe("a request without a handler", () => {
  const denials: { [M in Method]?: unknown } = {
    [command]: { decision: "decline" },
    "item/fileChange/requestApproval": { decision: "decline" },
    "item/permissions/requestApproval": { permissions: {}, scope: "turn" },
    "item/tool/requestUserInput": { answers: {} },
    "mcpServer/elicitation/request": { action: "decline", content: null, _meta: null },
    "item/tool/call": {
      success: false,
      contentItems: [
        { type: "inputText", text: expect.stringContaining("no handler answered item/tool/call") },
      ],
    },
    applyPatchApproval: { decision: { denied: { rejection: expect.any(String) } } },
    execCommandApproval: { decision: { denied: { rejection: expect.any(String) } } },
  };

  it.each(Object.entries(denials))("is denied in the valid shape: %s", async (method, denial) => {
    const { receive, events } = open();
    await expect(receive(method as Method)).resolves.toEqual(denial);
    const warning = events.find(({ type }) => type === "warning");
    expect(warning).toMatchObject({ kind: "unanswered_request", threadId: "t1" });
    const resolved = events.filter(({ type }) => type.endsWith(".resolved"));
    const seen = method === "item/tool/call" ? [] : [{ outcome: { by: "default" } }];
    expect(resolved).toMatchObject(seen);
  });

  it.each(["account/chatgptAuthTokens/refresh", "attestation/generate"] as const)(
    "is answered with an error where no answer means no: %s",
    async (method) => {
      const { receive, events } = open();
      await expect(receive(method)).rejects.toThrow(RequestFailure);
      expect(types(events)).toEqual(["warning"]);
    },
  );

  it("gets the system time if it asks for the time, without a warning", async () => {
    const { receive, events } = open({}, { now: () => 1_234_567 });
    await expect(receive("currentTime/read")).resolves.toEqual({ currentTimeAt: 1234 });
    expect(events).toEqual([]);
  });

  it("gets an error if its method is unknown", async () => {
    const { broker, events } = open({ approve: () => "accept" });
    const { signal } = new AbortController();
    const asked = broker.receive(
      { id: 1, method: "item/future/requestApproval", params: { threadId: "t9" } },
      signal,
    );
    await expect(asked).rejects.toMatchObject({ name: "RequestFailure", rpcCode: -32_601 });
    expect(events).toMatchObject([{ type: "warning", kind: "unknown_request", threadId: "t9" }]);
    await expect(broker.receive({ id: 2, method: "toString" }, signal)).rejects.toThrow(RequestFailure);
  });

  it("gets an error if it can't be parsed", async () => {
    const { broker } = open({ approve: () => "accept" });
    const { signal } = new AbortController();
    for (const method of SERVER_REQUEST_METHODS.filter((name) => name !== "attestation/generate")) {
      if (method === "account/chatgptAuthTokens/refresh" || method === "item/tool/call") continue;
      await expect(broker.receive({ id: 1, method, params: null }, signal)).rejects.toThrow(RequestFailure);
    }
  });
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
    const { receive, events } = open(handlers);
    await expect(receive(method as Method)).resolves.toEqual(sent);
    expect(types(events)).not.toContain("warning");
  });

  it.each(Object.entries(answers))(
    "that returns nonsense is as good as none: %s",
    async (method, { handlers }) => {
      const [slot = ""] = Object.keys(handlers);
      const denied = JSON.stringify(await settle(open().receive(method as Method)));
      for (const value of [undefined, null, 7, {}, { decision: {} }]) {
        // Questions may stay unanswered.
        if (slot === "userInput" && JSON.stringify(value) === "{}") continue;
        const { receive, events } = open({ [slot]: () => value });
        const sent = JSON.stringify(await settle(receive(method as Method)));
        // The text may differ, but not its meaning.
        const meaning = (text: string): string => text.replaceAll(/(no|a) handler [^"]*/g, "…");
        expect(meaning(sent)).toBe(meaning(denied));
        expect(events).toContainEqual(expect.objectContaining({ kind: "request_handler_failed" }));
      }
    },
  );

  it("that throws or rejects denies, and the warning has its message", async () => {
    const broken: ServerRequestHandlers[] = [
      {
        commandApproval: () => {
          throw new Error("the screen is off");
        },
      },
      { commandApproval: async () => Promise.reject(new Error("the screen is off")) },
    ];
    for (const handlers of broken) {
      const { receive, events } = open(handlers);
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

  it("gets a request with all that is known", async () => {
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
    const { receive } = open(
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
    await expect(open(new Person()).receive(command)).resolves.toEqual({ decision: "accept" });
  });

  it("of a slot is asked before `approve`, and a passed request goes on to the next", async () => {
    const asked: string[] = [];
    const { receive, events } = open([
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

  it("denies if all handlers pass", async () => {
    const { receive, events } = open([{ approve: () => "pass" }, { approve: () => "pass" }]);
    await expect(receive("item/fileChange/requestApproval")).resolves.toEqual({ decision: "decline" });
    expect(events).toContainEqual(expect.objectContaining({ kind: "unanswered_request" }));
  });

  it("for all approvals gets each kind, and no questions", async () => {
    const kinds: string[] = [];
    const { receive } = open({ approve: ({ kind }) => (kinds.push(kind), "accept") });
    for (const [index, method] of SERVER_REQUEST_METHODS.entries()) {
      await receive(method, index).catch(() => undefined);
    }
    await receive("mcpServer/elicitation/request", 99, mcpToolApproval);
    expect(kinds.toSorted()).toEqual(
      ["command", "fileChange", "legacyCommand", "legacyPatch", "mcpTool", "permissions"].toSorted(),
    );
  });

  it("is warned if its decision was weakened because it is not offered", async () => {
    const { receive, events } = open({ commandApproval: () => "acceptForSession" });
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
  ] as const)("of MCP tools says %s where %s may be kept", async (decision, persist, action, meta) => {
    const { receive } = open({ mcpToolApproval: () => decision });
    const params = { ...mcpToolApproval, _meta: { codex_approval_kind: "mcp_tool_call", persist } };
    await expect(receive("mcpServer/elicitation/request", 0, params)).resolves.toEqual({
      action,
      content: null,
      _meta: meta,
    });
  });

  it("may not return invalid form values or answers to other questions", async () => {
    const { receive } = open({
      elicitation: () => ({ action: "accept", content: { name: 5 } }),
      userInput: () => ({ size: "big" }),
    });
    await expect(receive("mcpServer/elicitation/request", 1)).resolves.toMatchObject({ action: "decline" });
    await expect(receive("item/tool/requestUserInput", 2)).resolves.toEqual({ answers: {} });
  });

  it("has its secret answers hidden from the event", async () => {
    const { receive, events } = open({ userInput: () => ({ colour: "blue", pin: "1234" }) });
    await receive("item/tool/requestUserInput");
    expect(JSON.stringify(events)).not.toContain("1234");
    expect(events.at(-1)).toMatchObject({
      outcome: { response: { answers: { colour: { answers: ["blue"] }, pin: { answers: ["[secret]"] } } } },
    });
  });

  it("that exceeds the timeout denies", async () => {
    vi.useFakeTimers();
    let seen: AbortSignal | undefined;
    const { receive, events } = open(
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

  it("that is slow delays no other", async () => {
    const first = Promise.withResolvers<"accept">();
    const { receive, broker } = open({
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

describe("a request that is pending", () => {
  function waiting(): ReturnType<typeof open> & { signals: AbortSignal[]; decide: (word: "accept") => void } {
    const signals: AbortSignal[] = [];
    const { promise, resolve } = Promise.withResolvers<"accept">();
    const opened = open({
      approve: (_approval, { signal }) => (signals.push(signal), promise),
    });
    return { ...opened, signals, decide: resolve };
  }

  it("is handled and answered once if it is repeated", async () => {
    const { receive, signals, decide, events } = waiting();
    const first = receive(command, 7);
    await expect(receive(command, 7)).resolves.toBe(UNANSWERED);
    decide("accept");
    await expect(first).resolves.toEqual({ decision: "accept" });
    // The server may have sent the repetition before it read the answer.
    await expect(receive(command, 7)).resolves.toBe(UNANSWERED);
    expect(signals).toHaveLength(1);
    expect(types(events)).toEqual(["approval.requested", "approval.resolved"]);
  });

  it("is withdrawn when another client answers it", async () => {
    const { receive, broker, signals, events } = waiting();
    const asked = receive(command, 7);
    broker.resolved({ threadId: "t1", requestId: 7 });
    await expect(asked).resolves.toBe(UNANSWERED);
    expect(signals[0]?.reason).toMatchObject({ code: "aborted" });
    expect(events.at(-1)).toMatchObject({ type: "approval.resolved", outcome: { by: "otherClient" } });
  });

  it("is withdrawn when its turn ends, and not before", async () => {
    const { receive, broker, signals, events } = waiting();
    const asked = receive(command, 7);
    broker.turnEnded("t1", "u2");
    broker.turnEnded("t2", "u1");
    expect(signals[0]?.aborted).toBe(false);
    broker.turnEnded("t1", "u1");
    await expect(asked).resolves.toBe(UNANSWERED);
    expect(signals[0]?.aborted).toBe(true);
    expect(events.at(-1)).toMatchObject({ outcome: { by: "withdrawn", reason: "The turn ended." } });
  });

  it("is withdrawn when the connection ends, and its ID can be reused", async () => {
    const { receive, broker, signals, events } = waiting();
    const asked = receive(command, 7);
    broker.connectionEnded(new Error("codex died"));
    const again = receive(command, 7);
    await expect(asked).resolves.toBe(UNANSWERED);
    expect(signals).toHaveLength(2);
    expect(events[1]).toMatchObject({ outcome: { by: "withdrawn", reason: "codex died" } });
    broker.threadEnded("t1");
    await expect(again).resolves.toBe(UNANSWERED);
    expect(broker.pendingCount).toBe(0);
  });

  it("is withdrawn when the connection's signal aborts", async () => {
    const { broker } = waiting();
    const connection = new AbortController();
    const asked = broker.receive(
      { id: 1, method: command, params: sampleRequests[command] },
      connection.signal,
    );
    connection.abort();
    await expect(asked).resolves.toBe(UNANSWERED);
  });

  it("is not handled if the notification of its end arrives first", async () => {
    const { receive, broker, signals, events } = waiting();
    broker.turnEnded("t1", "u1");
    broker.resolved({ threadId: "t1", requestId: 8 });
    await expect(receive(command, 7)).resolves.toBe(UNANSWERED);
    await expect(receive("applyPatchApproval", 8)).resolves.toBe(UNANSWERED);
    expect([signals, events]).toEqual([[], []]);
    await new Promise(setImmediate);
    // Background processes of the turn may still ask later, for example about a host.
    void receive(command, 9);
    expect(signals).toHaveLength(1);
  });
});
