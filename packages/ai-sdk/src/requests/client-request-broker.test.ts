import { describe, expect, it } from "vitest";
import type { ApprovalRequest, ToolCallRequest } from "./client-request.ts";
import { ClientRequestBroker } from "./client-request-broker.ts";

const tool = (id: string): ToolCallRequest => ({ kind: "tool", id, toolName: "add", input: {} });
const approval = (id: string, itemId?: string): ApprovalRequest => ({
  kind: "approval",
  id,
  itemId,
  toolName: "codex_exec",
  input: {},
  details: {},
});
const { signal } = new AbortController();

function attendedBroker(): ClientRequestBroker {
  const broker = new ClientRequestBroker();
  broker.serve({ tools: [{ name: "add" }] });
  broker.openForTurn();
  return broker;
}

describe("a request of a turn", () => {
  it("is reported once and answered by its id", async () => {
    const broker = attendedBroker();
    const first = broker.callTool(tool("a"), signal);
    const second = broker.approve(approval("b"), signal);
    expect(broker.takeUnreported().map(({ id }) => id)).toEqual(["a", "b"]);
    expect(broker.hasUnreported).toBe(false);
    broker.submitDecision("b", { approved: true, reason: "fine" });
    broker.submitResult("a", { type: "result", result: "3" });
    expect(await second).toEqual({ approved: true, reason: "fine" });
    expect(await first).toEqual({ type: "result", result: "3" });
  });

  it("is reported again when it was not answered", async () => {
    const broker = attendedBroker();
    void broker.callTool(tool("a"), signal);
    void broker.callTool(tool("b"), signal);
    broker.takeUnreported();
    broker.submitResult("a", { type: "result", result: "" });
    broker.reportAgain();
    expect(broker.takeUnreported().map(({ id }) => id)).toEqual(["b"]);
  });

  it("is not reported if its answer arrived first", async () => {
    const broker = attendedBroker();
    broker.submitResult("a", { type: "result", result: "early" });
    expect(await broker.callTool(tool("a"), signal)).toEqual({ type: "result", result: "early" });
    expect(broker.hasUnreported).toBe(false);
  });

  it("does not receive an answer from an earlier turn", async () => {
    const broker = new ClientRequestBroker();
    broker.serve({ tools: [{ name: "add" }] });
    const openBroker = broker.openForTurn();
    broker.submitDecision("b", { approved: true, reason: undefined });
    openBroker[Symbol.dispose]();
    broker.openForTurn();
    void broker.approve(approval("b"), signal);
    expect(broker.hasUnreported).toBe(true);
  });

  it("is withdrawn when its signal aborts", async () => {
    const broker = attendedBroker();
    const controller = new AbortController();
    const asked = broker.callTool(tool("a"), controller.signal);
    controller.abort(new Error("the turn ended"));
    await expect(asked).rejects.toThrow("the turn ended");
    expect(broker.hasUnreported).toBe(false);
  });

  it("is rejected together with all others, by the ids of their items", async () => {
    const broker = attendedBroker();
    const asked = [broker.callTool(tool("a"), signal), broker.approve(approval("b", "item"), signal)];
    void broker.approve(approval("c"), signal);
    expect(broker.rejectAll("no time")).toEqual(["a", "item"]);
    expect(await Promise.all(asked)).toEqual([
      { type: "error", message: "no time" },
      { approved: false, reason: "no time" },
    ]);
  });

  it("is rejected at once for a tool that is not offered, and for a turn without a client", async () => {
    const broker = new ClientRequestBroker();
    expect(await broker.approve(approval("a"), signal)).toMatchObject({ approved: false });
    expect(await broker.callTool(tool("b"), signal)).toMatchObject({ type: "error" });
    broker.openForTurn();
    expect(await broker.callTool(tool("c"), signal)).toMatchObject({
      message: expect.stringContaining("not offered") as string,
    });
  });
});
