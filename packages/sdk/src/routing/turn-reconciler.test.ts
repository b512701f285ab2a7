import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FakeCaller } from "../../test/fake-caller.ts";
import { message, TurnNotifications } from "../../test/notices.ts";
import { CodexError, type CodexErrorCode } from "../errors.ts";
import { ThreadRouter } from "./thread-router.ts";
import type { LiveTurn } from "../turn/live-turn.ts";
import { RECONCILE_TIMES, TurnReconciler } from "./turn-reconciler.ts";

const say = new TurnNotifications("thread", "turn");
const { idleGraceMs, quietMs, checkEveryMs } = RECONCILE_TIMES;

let caller: FakeCaller;
let router: ThreadRouter;
let reconciler: TurnReconciler;
let turn: LiveTurn;
/** What the server has stored, and what it says of the thread; a code is a refusal. */
let turns: unknown[] | CodexErrorCode;
let status: "active" | "idle" | "notLoaded" | CodexErrorCode;

function beIdle(): void {
  caller.say("thread/status/changed", { threadId: "thread", status: { type: "idle" } });
}

beforeEach(() => {
  vi.useFakeTimers();
  caller = new FakeCaller();
  router = new ThreadRouter();
  turn = router.hold("thread").turn("turn");
  router.route(say.started());
  turns = [];
  status = "active";
  caller.respond = ({ method, answer, refuse }) => {
    if (method === "thread/turns/list") {
      if (typeof turns === "string") refuse(turns);
      else answer({ data: turns, nextCursor: null });
    } else if (status === "active" || status === "idle" || status === "notLoaded") {
      answer({ thread: { status: { type: status } } });
    } else refuse(status);
  };
  reconciler = new TurnReconciler(caller, router);
});

afterEach(() => {
  reconciler[Symbol.dispose]();
  assert.equal(vi.getTimerCount(), 0);
  vi.useRealTimers();
});

describe("TurnReconciler", () => {
  it("asks nothing when the turn ends within the grace", async () => {
    beIdle();
    await vi.advanceTimersByTimeAsync(idleGraceMs - 1);
    router.route(say.completed());
    await vi.advanceTimersByTimeAsync(10 * quietMs);
    expect(caller.calls).toEqual([]);
  });

  it("ends a turn as it is stored when the thread is idle and its end was not reported", async () => {
    turns = [say.turn("completed", { items: [message("m", "answer")], durationMs: 5 })];
    beIdle();
    await vi.advanceTimersByTimeAsync(idleGraceMs);
    expect(turn.end).toMatchObject({
      type: "turn.completed",
      result: { finalResponse: "answer", durationMs: 5 },
    });
    expect(router.find("thread")?.activeTurn).toBeUndefined();
    expect(caller.calls).toHaveLength(1);
  });

  it.each(["interrupted", "failed"] as const)("ends a turn that is stored as %s as that", async (stored) => {
    turns = [say.turn(stored)];
    beIdle();
    await vi.advanceTimersByTimeAsync(idleGraceMs);
    expect(turn.end?.type).toBe(`turn.${stored}`);
  });

  it("leaves a turn alone that still runs", async () => {
    turns = [say.turn("inProgress")];
    beIdle();
    await vi.advanceTimersByTimeAsync(quietMs + 3 * checkEveryMs);
    expect(turn.end).toBeUndefined();
  });

  it("leaves a turn alone that is stored as running a moment after its thread became idle", async () => {
    turns = [say.turn("inProgress")];
    status = "idle";
    beIdle();
    await vi.advanceTimersByTimeAsync(idleGraceMs);
    expect(turn.end).toBeUndefined();
  });

  it("fails a turn of an ephemeral thread, which is stored nowhere, once its thread is idle", async () => {
    turns = "request_failed";
    status = "idle";
    beIdle();
    await vi.advanceTimersByTimeAsync(idleGraceMs);
    expect(turn.end).toMatchObject({ type: "turn.failed", error: { code: "turn_failed" } });
  });

  it("leaves a turn of an ephemeral thread alone while its thread is active", async () => {
    turns = "request_failed";
    await vi.advanceTimersByTimeAsync(quietMs + 3 * checkEveryMs);
    expect(caller.made("thread/read").length).toBeGreaterThan(0);
    expect(turn.end).toBeUndefined();
  });

  it("fails a turn whose thread is gone", async () => {
    turns = "thread_not_found";
    status = "thread_not_found";
    beIdle();
    await vi.advanceTimersByTimeAsync(idleGraceMs);
    expect(turn.end?.type).toBe("turn.failed");
  });

  it("fails a silent turn that is stored as running in a thread that does not run", async () => {
    turns = [say.turn("inProgress")];
    status = "notLoaded";
    await vi.advanceTimersByTimeAsync(quietMs + checkEveryMs);
    expect(turn.end?.type).toBe("turn.failed");
  });

  it("leaves a turn for later when the server can't be reached", async () => {
    turns = "connection_lost";
    beIdle();
    await vi.advanceTimersByTimeAsync(idleGraceMs);
    expect(turn.end).toBeUndefined();
    turns = [say.turn("completed")];
    await vi.advanceTimersByTimeAsync(quietMs + checkEveryMs);
    expect(turn.end?.type).toBe("turn.completed");
  });

  it("asks after a turn that is silent for long, and not after one that speaks", async () => {
    turns = [say.turn("inProgress")];
    for (let spoken = 0; spoken < 10; spoken += 1) {
      await vi.advanceTimersByTimeAsync(quietMs / 2);
      router.route(say.delta("m", "still here"));
    }
    expect(caller.calls).toEqual([]);
    await vi.advanceTimersByTimeAsync(quietMs + checkEveryMs);
    expect(caller.made("thread/turns/list").length).toBeGreaterThan(0);
  });

  it("asks after one turn once at a time, however long the answer takes", async () => {
    caller.respond = () => {};
    beIdle();
    beIdle();
    await vi.advanceTimersByTimeAsync(quietMs + 10 * checkEveryMs);
    expect(caller.calls).toHaveLength(1);
  });

  it("does not end a turn twice that ends while it is asked after", async () => {
    const ends: string[] = [];
    router.onTurnEnd(({ type }) => ends.push(type));
    turns = "request_failed";
    status = "idle";
    const answer = caller.respond;
    const open: (() => void)[] = [];
    caller.respond = (call) => void open.push(() => answer(call));
    beIdle();
    await vi.advanceTimersByTimeAsync(idleGraceMs);
    open.shift()?.();
    await vi.advanceTimersByTimeAsync(0);
    router.route(say.completed());
    open.shift()?.();
    await vi.advanceTimersByTimeAsync(0);
    expect(ends).toEqual(["turn.completed"]);
    expect(turn.end?.type).toBe("turn.completed");
  });

  it("settles the turn whose end is missing, not the one that began after", async () => {
    beIdle();
    const next = new TurnNotifications("thread", "next");
    router.route(next.started());
    turns = [next.turn("inProgress"), say.turn("completed")];
    await vi.advanceTimersByTimeAsync(idleGraceMs);
    expect(turn.end?.type).toBe("turn.completed");
    expect(router.find("thread")?.activeTurn).toMatchObject({ turnId: "next", end: undefined });
  });

  it("asks nothing after its end, and nothing after the server's", async () => {
    beIdle();
    router.failAll(new CodexError("app_server_crashed", "gone"));
    await vi.advanceTimersByTimeAsync(quietMs + checkEveryMs);
    expect(caller.calls).toEqual([]);
    router.route(new TurnNotifications("thread", "other").started());
    beIdle();
    reconciler[Symbol.dispose]();
    beIdle();
    await vi.advanceTimersByTimeAsync(10 * quietMs);
    expect(caller.calls).toEqual([]);
  });
});
