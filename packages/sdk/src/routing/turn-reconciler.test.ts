import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FakeCaller } from "../../test/fake-caller.ts";
import { message, TurnNotifications } from "../../test/notices.ts";
import { CodexError, type CodexErrorCode } from "../errors.ts";
import { ThreadRouter } from "./thread-router.ts";
import type { LiveTurn } from "../turn/live-turn.ts";
import { RECONCILE_TIMES, TurnReconciler } from "./turn-reconciler.ts";

const say = new TurnNotifications("thread", "turn");
const { idleGraceMs, quietMs, checkIntervalMs } = RECONCILE_TIMES;

let caller: FakeCaller;
let router: ThreadRouter;
let reconciler: TurnReconciler;
let turn: LiveTurn;
/** The stored turns and the thread status that the server returns. A code is a rejection. */
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
  it("sends no request if the turn ends within the grace period", async () => {
    beIdle();
    await vi.advanceTimersByTimeAsync(idleGraceMs - 1);
    router.route(say.completed());
    await vi.advanceTimersByTimeAsync(10 * quietMs);
    expect(caller.calls).toEqual([]);
  });

  it("ends a turn with its stored status if the thread is idle and the end was not reported", async () => {
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

  it.each(["interrupted", "failed"] as const)(
    "ends a turn that is stored as %s with that status",
    async (stored) => {
      turns = [say.turn(stored)];
      beIdle();
      await vi.advanceTimersByTimeAsync(idleGraceMs);
      expect(turn.end?.type).toBe(`turn.${stored}`);
    },
  );

  it("does not end a turn that is still running", async () => {
    turns = [say.turn("inProgress")];
    beIdle();
    await vi.advanceTimersByTimeAsync(quietMs + 3 * checkIntervalMs);
    expect(turn.end).toBeUndefined();
  });

  it("does not end a turn that is stored as running just after its thread became idle", async () => {
    turns = [say.turn("inProgress")];
    status = "idle";
    beIdle();
    await vi.advanceTimersByTimeAsync(idleGraceMs);
    expect(turn.end).toBeUndefined();
  });

  it("fails the turn of an ephemeral thread, which is not stored, once the thread is idle", async () => {
    turns = "request_failed";
    status = "idle";
    beIdle();
    await vi.advanceTimersByTimeAsync(idleGraceMs);
    expect(turn.end).toMatchObject({ type: "turn.failed", error: { code: "turn_failed" } });
  });

  it("does not end the turn of an ephemeral thread while the thread is active", async () => {
    turns = "request_failed";
    await vi.advanceTimersByTimeAsync(quietMs + 3 * checkIntervalMs);
    expect(caller.made("thread/read").length).toBeGreaterThan(0);
    expect(turn.end).toBeUndefined();
  });

  it("fails a turn whose thread no longer exists", async () => {
    turns = "thread_not_found";
    status = "thread_not_found";
    beIdle();
    await vi.advanceTimersByTimeAsync(idleGraceMs);
    expect(turn.end?.type).toBe("turn.failed");
  });

  it("fails a silent turn that is stored as running in an idle thread", async () => {
    turns = [say.turn("inProgress")];
    status = "notLoaded";
    await vi.advanceTimersByTimeAsync(quietMs + checkIntervalMs);
    expect(turn.end?.type).toBe("turn.failed");
  });

  it("retries later if the server can't be reached", async () => {
    turns = "connection_lost";
    beIdle();
    await vi.advanceTimersByTimeAsync(idleGraceMs);
    expect(turn.end).toBeUndefined();
    turns = [say.turn("completed")];
    await vi.advanceTimersByTimeAsync(quietMs + checkIntervalMs);
    expect(turn.end?.type).toBe("turn.completed");
  });

  it("reads the status only of turns that have been silent for long", async () => {
    turns = [say.turn("inProgress")];
    for (let count = 0; count < 10; count += 1) {
      await vi.advanceTimersByTimeAsync(quietMs / 2);
      router.route(say.delta("m", "still here"));
    }
    expect(caller.calls).toEqual([]);
    await vi.advanceTimersByTimeAsync(quietMs + checkIntervalMs);
    expect(caller.made("thread/turns/list").length).toBeGreaterThan(0);
  });

  it("sends one request per turn at a time, however long the response takes", async () => {
    caller.respond = () => {};
    beIdle();
    beIdle();
    await vi.advanceTimersByTimeAsync(quietMs + 10 * checkIntervalMs);
    expect(caller.calls).toHaveLength(1);
  });

  it("ends a turn only once if it ends while its status is read", async () => {
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

  it("settles the turn whose end is missing, not the next one", async () => {
    beIdle();
    const next = new TurnNotifications("thread", "next");
    router.route(next.started());
    turns = [next.turn("inProgress"), say.turn("completed")];
    await vi.advanceTimersByTimeAsync(idleGraceMs);
    expect(turn.end?.type).toBe("turn.completed");
    expect(router.find("thread")?.activeTurn).toMatchObject({ turnId: "next", end: undefined });
  });

  it("sends no request after it is disposed or the server has ended", async () => {
    beIdle();
    router.failAll(new CodexError("app_server_crashed", "gone"));
    await vi.advanceTimersByTimeAsync(quietMs + checkIntervalMs);
    expect(caller.calls).toEqual([]);
    router.route(new TurnNotifications("thread", "other").started());
    beIdle();
    reconciler[Symbol.dispose]();
    beIdle();
    await vi.advanceTimersByTimeAsync(10 * quietMs);
    expect(caller.calls).toEqual([]);
  });
});
