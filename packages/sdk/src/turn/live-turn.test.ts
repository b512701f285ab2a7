import type { v2 } from "@codexkit/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { command, message, TurnNotifications, tokens } from "../../test/notices.ts";
import { CodexError } from "../errors.ts";
import type { RawMessage, TurnEndEvent } from "../events/event.ts";
import { parseNotification } from "../events/parse-notification.ts";
import { LiveTurn } from "./live-turn.ts";
import { TurnFailedError } from "../events/turn-result.ts";

const say = new TurnNotifications("thread", "turn");

function turnOf(...messages: RawMessage[]): LiveTurn {
  const turn = new LiveTurn("thread", "turn", undefined);
  for (const raw of messages) turn.apply(parseNotification(raw));
  return turn;
}

function endOf(...messages: RawMessage[]): TurnEndEvent {
  const { end } = turnOf(...messages);
  if (!end) throw new Error("the turn did not end");
  return end;
}

function failureOf(error: unknown): TurnFailedError {
  const end = endOf(say.completed({ status: "failed", error: error as v2.TurnError }));
  if (end.type !== "turn.failed" || !(end.error instanceof TurnFailedError))
    throw new Error("it did not fail");
  return end.error;
}

describe("LiveTurn", () => {
  it("ends once, with the first end", async () => {
    const turn = turnOf(say.started(), say.completed({ durationMs: 7 }));
    const { end } = turn;
    expect(end).toMatchObject({ type: "turn.completed", result: { status: "completed", durationMs: 7 } });
    turn.apply(parseNotification(say.completed({ status: "interrupted" })));
    turn.apply(parseNotification(say.itemCompleted(message("late", "late"))));
    expect(turn.fail(new CodexError("app_server_crashed", "gone"))).toBe(end);
    expect(turn.end).toBe(end);
    expect(await turn.ended).toBe(end);
    expect(turn.result("completed").items).toEqual([]);
    const events = await Array.fromAsync(turn.events.read());
    expect(events.map(({ type }) => type)).toEqual(["turn.started", "turn.completed"]);
  });

  it("ends with the code of the local error if the server can't report the end", async () => {
    const turn = turnOf(say.started(), say.itemStarted(message("a", "")), say.delta("a", "half"));
    const cause = new CodexError("app_server_crashed", "codex died: out of memory");
    expect(turn.fail(cause)).toMatchObject({
      type: "turn.failed",
      error: { code: "app_server_crashed", message: "codex died: out of memory", cause },
      result: { status: "failed", finalResponse: "half", openItems: ["a"] },
    });
    expect((await Array.fromAsync(turn.events.read())).at(-1)).toBe(turn.end);
  });

  it("lists its items in the order in which they started", () => {
    const { result } = endOf(
      say.itemStarted(command("slow")),
      say.itemStarted(message("quick", "")),
      say.itemCompleted(message("quick", "done")),
      say.itemCompleted(command("slow", "out")),
      say.completed(),
    );
    expect(result.items).toEqual([command("slow", "out"), message("quick", "done")]);
    expect(result.openItems).toEqual([]);
  });

  it("accepts an item that completes without having started", () => {
    const { result } = endOf(say.itemCompleted(message("a", "hello")), say.completed());
    expect(result).toMatchObject({ finalResponse: "hello", openItems: [] });
  });

  it("has the partial text of interrupted items, and lists the open ones", () => {
    const plan: v2.ThreadItem = { type: "plan", id: "p", text: "" };
    const { result } = endOf(
      say.delta("early", "before its "),
      say.itemStarted(message("early", "")),
      say.delta("early", "start"),
      say.itemStarted(command("c")),
      say.output("c", "one\n"),
      say.output("c", "two\n"),
      say.itemStarted(plan),
      {
        method: "item/plan/delta",
        params: { threadId: "thread", turnId: "turn", itemId: "p", delta: "1. go" },
      },
      say.completed({ status: "interrupted" }),
    );
    expect(result).toMatchObject({ status: "interrupted", finalResponse: "before its start" });
    expect(result.items).toEqual([
      message("early", "before its start"),
      command("c", "one\ntwo\n"),
      { ...plan, text: "1. go" },
    ]);
    expect(result.openItems).toEqual(["early", "c", "p"]);
  });

  it("ignores deltas of a completed item", () => {
    const { result } = endOf(
      say.itemStarted(message("a", "")),
      say.delta("a", "hel"),
      say.itemCompleted(message("a", "hello")),
      say.delta("a", "stray"),
      say.completed(),
    );
    expect(result.finalResponse).toBe("hello");
  });

  it("keeps the newest part of endless output, without splitting characters", () => {
    const messages = [say.itemStarted(command("c"))];
    for (let part = 0; part < 700; part += 1) messages.push(say.output("c", `x${"🦀".repeat(2_000)}`));
    const item = endOf(...messages, say.completed({ status: "interrupted" })).result.items[0];
    const output = item?.type === "commandExecution" ? (item.aggregatedOutput ?? "") : "";
    expect(output.length).toBeLessThanOrEqual(2 * 1024 * 1024);
    expect(output.length).toBeGreaterThanOrEqual(1024 * 1024 - 1);
    expect(output.isWellFormed()).toBe(true);
  });

  it.each<[string, string, v2.ThreadItem[]]>([
    ["nothing", "", []],
    ["the only message", "a", [message("1", "a")]],
    ["the last of several", "b", [message("1", "a"), message("2", "b")]],
    [
      "the final answer, not the commentary around it",
      "b",
      [message("1", "a", "commentary"), message("2", "b", "final_answer"), message("3", "c", "commentary")],
    ],
    [
      "the last of several final answers",
      "c",
      [message("1", "a", "final_answer"), message("2", "b", "commentary"), message("3", "c", "final_answer")],
    ],
    [
      "the last commentary if there is nothing else",
      "b",
      [message("1", "a", "commentary"), message("2", "b", "commentary")],
    ],
    ["a message in an unknown phase", "b", [message("1", "a", "commentary"), message("2", "b", "epilogue")]],
  ])("answers with %s", (_, answer, items) => {
    expect(endOf(...items.map((item) => say.itemCompleted(item)), say.completed()).result.finalResponse).toBe(
      answer,
    );
  });

  it("uses the items of the end only for missed ones", () => {
    const repeated = endOf(
      say.itemCompleted(message("a", "whole")),
      say.completed({ items: [message("a", "summary")] }),
    );
    expect(repeated.result.items).toEqual([message("a", "whole")]);
    const missed = endOf(
      say.itemCompleted(command("c", "out")),
      say.completed({ items: [message("a", "summary")] }),
    );
    expect(missed.result.items).toEqual([command("c", "out"), message("a", "summary")]);
    expect(missed.result.finalResponse).toBe("summary");
  });

  it("uses the end's state of an item whose completion was missed", () => {
    const begun = [say.itemStarted(message("a", "")), say.delta("a", "hel")];
    const { result } = endOf(...begun, say.completed({ items: [message("a", "hello")] }));
    expect(result).toMatchObject({ finalResponse: "hello", openItems: [] });
    const cut = endOf(...begun, say.completed({ status: "interrupted", items: [message("a", "")] }));
    expect(cut.result).toMatchObject({ finalResponse: "hel", openItems: ["a"] });
  });

  it("has the latest plan and diff, and the tokens of the whole turn", () => {
    const place = { threadId: "thread", turnId: "turn" };
    const { result } = endOf(
      {
        method: "turn/plan/updated",
        params: { ...place, explanation: null, plan: [{ step: "a", status: "pending" }] },
      },
      {
        method: "turn/plan/updated",
        params: { ...place, explanation: null, plan: [{ step: "b", status: "completed" }] },
      },
      { method: "turn/diff/updated", params: { ...place, diff: "+a" } },
      { method: "turn/diff/updated", params: { ...place, diff: "+ab" } },
      say.usage(10, 10),
      say.usage(30, 20),
      say.completed(),
    );
    expect(result).toMatchObject({
      plan: [{ step: "b", status: "completed" }],
      diff: "+ab",
      usage: tokens(30),
    });
  });

  it.each<[string, unknown, { reason: string | undefined; httpStatus: number | undefined }]>([
    ["an identifier", "usageLimitExceeded", { reason: "usageLimitExceeded", httpStatus: undefined }],
    ["an unknown identifier", "moonPhase", { reason: "moonPhase", httpStatus: undefined }],
    [
      "an identifier with a status",
      { httpConnectionFailed: { httpStatusCode: 401 } },
      { reason: "httpConnectionFailed", httpStatus: 401 },
    ],
    [
      "an identifier with a null status",
      { responseStreamDisconnected: { httpStatusCode: null } },
      { reason: "responseStreamDisconnected", httpStatus: undefined },
    ],
    [
      "an identifier with other data",
      { activeTurnNotSteerable: { turnKind: "review" } },
      { reason: "activeTurnNotSteerable", httpStatus: undefined },
    ],
    ["an identifier with null", { soon: null }, { reason: "soon", httpStatus: undefined }],
    ["null", null, { reason: undefined, httpStatus: undefined }],
    ["an empty object", {}, { reason: undefined, httpStatus: undefined }],
    ["a number", 7, { reason: undefined, httpStatus: undefined }],
    ["a list", ["a"], { reason: undefined, httpStatus: undefined }],
  ])("fails with the reason and status from codex's error info: %s", (_, codexErrorInfo, expected) => {
    const error = failureOf({ message: "no", codexErrorInfo, additionalDetails: null, misalignment: null });
    expect(error).toMatchObject({
      code: "turn_failed",
      message: expect.stringMatching(/^no\b/) as string,
      ...expected,
      result: { status: "failed" },
    });
  });

  it("fails with a reason for any shape of codex's error", () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (codexErrorInfo, text) => {
        expect(failureOf({ message: text, codexErrorInfo }).code).toBe("turn_failed");
        expect(failureOf(text).code).toBe("turn_failed");
      }),
    );
    expect(failureOf({ message: { toString: "no text" } }).code).toBe("turn_failed");
  });

  it("fails for an unknown status, and names it", () => {
    const error = endOf(say.completed({ status: "postponed" as v2.TurnStatus }));
    expect(error).toMatchObject({
      type: "turn.failed",
      error: { message: expect.stringContaining("postponed") },
    });
  });

  it("handles 200,000 deltas of interleaved items", () => {
    const turn = turnOf(say.itemStarted(message("a", "")), say.itemStarted(command("c")));
    for (let number = 0; number < 100_000; number += 1) {
      turn.apply(parseNotification(say.delta("a", "0123456789")));
      turn.apply(parseNotification(say.output("c", "0123456789")));
    }
    turn.apply(parseNotification(say.completed({ status: "interrupted" })));
    expect(turn.end?.result.finalResponse).toHaveLength(1_000_000);
  });
});
