import { SERVER_REQUEST_METHODS } from "@codexkit/protocol";
import { RequestFailure, UNANSWERED } from "@codexkit/rpc";
import { describe, expect, it, vi } from "vitest";
import { sampleRequests } from "../../test/server-requests.ts";
import { type Method, openBroker, types } from "../../test/request-broker.ts";

const command = "item/commandExecution/requestApproval";

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
    const { receive, events } = openBroker();
    await expect(receive(method as Method)).resolves.toEqual(denial);
    const warning = events.find(({ type }) => type === "warning");
    expect(warning).toMatchObject({ kind: "unanswered_request", threadId: "t1" });
    const resolved = events.filter(({ type }) => type.endsWith(".resolved"));
    const seen = method === "item/tool/call" ? [] : [{ outcome: { by: "default" } }];
    expect(resolved).toMatchObject(seen);
  });

  it.each(["account/chatgptAuthTokens/refresh", "attestation/generate"] as const)(
    "is answered with an error if no valid response is a denial: %s",
    async (method) => {
      const { receive, events } = openBroker();
      await expect(receive(method)).rejects.toThrow(RequestFailure);
      expect(types(events)).toEqual(["warning"]);
    },
  );

  it("gets the system time if it asks for the time, without a warning", async () => {
    const { receive, events } = openBroker({}, { now: () => 1_234_567 });
    await expect(receive("currentTime/read")).resolves.toEqual({ currentTimeAt: 1234 });
    expect(events).toEqual([]);
  });

  it("gets an error if its method is unknown", async () => {
    const { broker, events } = openBroker({ approve: () => "accept" });
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
    const { broker } = openBroker({ approve: () => "accept" });
    const { signal } = new AbortController();
    for (const method of SERVER_REQUEST_METHODS.filter((name) => name !== "attestation/generate")) {
      if (method === "account/chatgptAuthTokens/refresh" || method === "item/tool/call") continue;
      await expect(broker.receive({ id: 1, method, params: null }, signal)).rejects.toThrow(RequestFailure);
    }
  });
});

function waiting(): ReturnType<typeof openBroker> & {
  signals: AbortSignal[];
  decide: (word: "accept") => void;
} {
  const signals: AbortSignal[] = [];
  const { promise, resolve } = Promise.withResolvers<"accept">();
  const opened = openBroker({
    approve: (_approval, { signal }) => (signals.push(signal), promise),
  });
  return { ...opened, signals, decide: resolve };
}

describe("the first request, for which the parsers are loaded", () => {
  it("is handled once if it is repeated meanwhile", async () => {
    const { receive, signals, decide } = waiting();
    const first = receive(command, 7);
    await expect(receive(command, 7)).resolves.toBe(UNANSWERED);
    decide("accept");
    await expect(first).resolves.toEqual({ decision: "accept" });
    expect(signals).toHaveLength(1);
  });

  it.each<[string, (broker: ReturnType<typeof openBroker>["broker"]) => void]>([
    ["another client answers it", (broker) => broker.resolved({ requestId: 7 })],
    ["its turn ends", (broker) => broker.turnEnded("t1", "u1")],
    ["its thread is closed", (broker) => broker.threadEnded("t1")],
    ["the connection ends", (broker) => broker.connectionEnded()],
  ])("is not handled if %s meanwhile", async (_what, end) => {
    const { receive, broker, signals, events } = waiting();
    const asked = receive(command, 7);
    end(broker);
    await expect(asked).resolves.toBe(UNANSWERED);
    expect([signals, events]).toEqual([[], []]);
  });

  it("can have the ID of a request of the previous connection", async () => {
    const { receive, broker, signals, decide } = waiting();
    const asked = receive(command, 7);
    broker.connectionEnded();
    const again = receive(command, 7);
    decide("accept");
    await expect(Promise.all([asked, again])).resolves.toEqual([UNANSWERED, { decision: "accept" }]);
    expect(signals).toHaveLength(1);
  });
});

describe("a request that is pending", () => {
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
    await vi.waitUntil(() => signals.length === 1);
    broker.resolved({ threadId: "t1", requestId: 7 });
    await expect(asked).resolves.toBe(UNANSWERED);
    expect(signals[0]?.reason).toMatchObject({ code: "aborted" });
    expect(events.at(-1)).toMatchObject({ type: "approval.resolved", outcome: { by: "otherClient" } });
  });

  it("is withdrawn when its turn ends, and not before", async () => {
    const { receive, broker, signals, events } = waiting();
    const asked = receive(command, 7);
    await vi.waitUntil(() => signals.length === 1);
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
    await vi.waitUntil(() => signals.length === 1);
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
    await vi.waitUntil(() => signals.length === 1);
  });
});
