import { describe, expect, it } from "vitest";
import type { ApprovalAsk, ToolAsk } from "./ask.ts";
import { AskDesk } from "./ask-desk.ts";

const tool = (id: string): ToolAsk => ({ kind: "tool", id, toolName: "add", input: {} });
const approval = (id: string, itemId?: string): ApprovalAsk => ({
  kind: "approval",
  id,
  itemId,
  toolName: "codex_exec",
  input: {},
  details: {},
});
const { signal } = new AbortController();

function attendedDesk(): AskDesk {
  const desk = new AskDesk();
  desk.serve({ tools: [{ name: "add" }] });
  desk.attend();
  return desk;
}

describe("what a turn asks", () => {
  it("is shown once, and answered by its id", async () => {
    const desk = attendedDesk();
    const first = desk.callTool(tool("a"), signal);
    const second = desk.approve(approval("b"), signal);
    expect(desk.takeUnseen().map(({ id }) => id)).toEqual(["a", "b"]);
    expect(desk.hasUnseen).toBe(false);
    desk.giveDecision("b", { approved: true, reason: "fine" });
    desk.giveResult("a", { type: "result", result: "3" });
    expect(await second).toEqual({ approved: true, reason: "fine" });
    expect(await first).toEqual({ type: "result", result: "3" });
  });

  it("is shown again when it was not answered", async () => {
    const desk = attendedDesk();
    void desk.callTool(tool("a"), signal);
    void desk.callTool(tool("b"), signal);
    desk.takeUnseen();
    desk.giveResult("a", { type: "result", result: "" });
    desk.showAgain();
    expect(desk.takeUnseen().map(({ id }) => id)).toEqual(["b"]);
  });

  it("may have been answered before, which nobody is shown", async () => {
    const desk = attendedDesk();
    desk.giveResult("a", { type: "result", result: "early" });
    expect(await desk.callTool(tool("a"), signal)).toEqual({ type: "result", result: "early" });
    expect(desk.hasUnseen).toBe(false);
  });

  it("has no use for the answers of a turn that is over", async () => {
    const desk = new AskDesk();
    desk.serve({ tools: [{ name: "add" }] });
    const attendance = desk.attend();
    desk.giveDecision("b", { approved: true, reason: undefined });
    attendance[Symbol.dispose]();
    desk.attend();
    void desk.approve(approval("b"), signal);
    expect(desk.hasUnseen).toBe(true);
  });

  it("is withdrawn when nobody waits for it any more", async () => {
    const desk = attendedDesk();
    const controller = new AbortController();
    const asked = desk.callTool(tool("a"), controller.signal);
    controller.abort(new Error("the turn ended"));
    await expect(asked).rejects.toThrow("the turn ended");
    expect(desk.hasUnseen).toBe(false);
  });

  it("is refused all at once, and says which items that was about", async () => {
    const desk = attendedDesk();
    const asked = [desk.callTool(tool("a"), signal), desk.approve(approval("b", "item"), signal)];
    void desk.approve(approval("c"), signal);
    expect(desk.refuseAll("no time")).toEqual(["a", "item"]);
    expect(await Promise.all(asked)).toEqual([
      { type: "error", message: "no time" },
      { approved: false, reason: "no time" },
    ]);
  });

  it("is refused at once for a tool that is not offered, and for a turn that nobody attends", async () => {
    const desk = new AskDesk();
    expect(await desk.approve(approval("a"), signal)).toMatchObject({ approved: false });
    expect(await desk.callTool(tool("b"), signal)).toMatchObject({ type: "error" });
    desk.attend();
    expect(await desk.callTool(tool("c"), signal)).toMatchObject({
      message: expect.stringContaining("not offered") as string,
    });
  });
});
