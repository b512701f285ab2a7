import { getEventListeners } from "node:events";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { errorOf } from "../test/error-of.ts";
import { overloadDelayMs } from "./backoff.ts";
import { type RemoteError, RpcError } from "./errors.ts";
import { OVERLOADED, testCalls } from "../test/outgoing-calls.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe("an abort", () => {
  const reason = new Error("enough");

  it("before the call sends nothing", async () => {
    const { sent, start } = testCalls();
    const error = await errorOf(start("m", { signal: AbortSignal.abort(reason) }));
    expect(error).toMatchObject({ code: "aborted", cause: reason, message: "m was aborted." });
    expect(sent).toEqual([]);
  });

  it("in the queue removes the call, which is never sent", async () => {
    const { calls, sent, start } = testCalls({ inFlight: 1 });
    const controller = new AbortController();
    void start("first");
    const queued = start("queued", { signal: controller.signal });
    void start("last");
    controller.abort(reason);
    expect(await errorOf(queued)).toMatchObject({ code: "aborted", cause: reason });
    calls.answer({ id: 0, result: 1 });
    expect(sent.map(({ method }) => method)).toEqual(["first", "last"]);
  });

  it("in flight frees the slot, and the late response is recognised", async () => {
    const { calls, sent, start } = testCalls({ inFlight: 1 });
    const controller = new AbortController();
    const call = start("first", { signal: controller.signal });
    void start("second");
    controller.abort(reason);
    expect((await errorOf(call)).code).toBe("aborted");
    expect(sent.map(({ method }) => method)).toEqual(["first", "second"]);
    expect(calls.answer({ id: 0, result: "late" })).toBe(true);
    expect(calls.answer({ id: 0, result: "later still" })).toBe(false);
  });

  it("while waiting for a retry ends the wait", async () => {
    const { calls, sent, start } = testCalls();
    const controller = new AbortController();
    const call = start("m", { signal: controller.signal });
    calls.answer({ id: 0, error: OVERLOADED });
    controller.abort(reason);
    expect(await errorOf(call)).toMatchObject({ code: "aborted", cause: reason });
    vi.runAllTimers();
    expect(sent).toHaveLength(1);
    expect(calls.counts).toEqual({ inFlight: 0, queued: 0 });
  });

  it("of a shared signal rejects all its calls, and sends no queued one", async () => {
    const { sent, start } = testCalls({ inFlight: 2 });
    const controller = new AbortController();
    const all = Array.from({ length: 50 }, () => start("m", { signal: controller.signal }));
    void start("other");
    controller.abort(reason);
    for (const call of all) expect((await errorOf(call)).code).toBe("aborted");
    expect(sent.map(({ method }) => method)).toEqual(["m", "m", "other"]);
  });

  it("after the response has no effect", async () => {
    const { calls, start } = testCalls();
    const controller = new AbortController();
    const call = start("m", { signal: controller.signal });
    calls.answer({ id: 0, result: 1 });
    controller.abort(reason);
    expect(await call).toBe(1);
  });

  it("leaves no listener on a signal after 10,000 calls", async () => {
    const { calls, start } = testCalls({ inFlight: 16, queuedCalls: 100, overloadRetries: 0 });
    const { signal } = new AbortController();
    for (let id = 0; id < 10_000; id++) {
      const call = start("m", { signal, timeoutMs: 5 });
      if (id % 3 === 0) calls.answer({ id, result: 1 });
      else if (id % 3 === 1) calls.answer({ id, error: OVERLOADED });
      else vi.advanceTimersByTime(5);
      await call.catch(() => {});
    }
    expect(getEventListeners(signal, "abort")).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("a timeout", () => {
  it("rejects the call, and its late response is recognised once", async () => {
    const { calls, start } = testCalls();
    const call = start("slow", { timeoutMs: 50 });
    vi.advanceTimersByTime(50);
    expect(await errorOf(call)).toMatchObject({
      code: "timeout",
      message: "slow was not answered within 50 ms.",
    });
    expect(calls.answer({ id: 0, result: "late" })).toBe(true);
    expect(calls.answer({ id: 0, result: "again" })).toBe(false);
  });

  it("includes the time in the queue and between attempts", async () => {
    const { calls, start } = testCalls({ inFlight: 1 });
    void start("first");
    const queued = start("queued", { timeoutMs: 50 });
    vi.advanceTimersByTime(50);
    expect((await errorOf(queued)).code).toBe("timeout");
    const retried = start("retried", { timeoutMs: 10 });
    calls.answer({ id: 0, result: 1 });
    calls.answer({ id: 1, error: OVERLOADED });
    vi.advanceTimersByTime(10);
    expect((await errorOf(retried)).code).toBe("timeout");
    expect(vi.getTimerCount()).toBe(0);
  });

  it("has a default in the limits", async () => {
    const { start } = testCalls({ callTimeoutMs: 70 });
    const call = start();
    vi.advanceTimersByTime(70);
    expect((await errorOf(call)).code).toBe("timeout");
  });

  it("of Infinity waits until the connection ends", async () => {
    const { calls, start } = testCalls();
    const call = start("m", { timeoutMs: Infinity });
    expect(vi.getTimerCount()).toBe(0);
    const over = new RpcError("closed", "over");
    calls.end(over);
    expect(await errorOf(call)).toBe(over);
  });

  it("longer than a timer supports does not fire immediately", async () => {
    const { calls, start } = testCalls();
    const call = start("m", { timeoutMs: Number.MAX_SAFE_INTEGER });
    vi.advanceTimersByTime(1000 * 60 * 60 * 24);
    calls.answer({ id: 0, result: "patient" });
    expect(await call).toBe("patient");
  });

  it("that is not a number still ends", async () => {
    const { start } = testCalls();
    const call = start("m", { timeoutMs: Number.NaN });
    vi.advanceTimersByTime(1);
    expect((await errorOf(call)).code).toBe("timeout");
  });

  it("of many calls keeps a bounded number of their IDs", () => {
    const { calls, start } = testCalls();
    for (let id = 0; id < 2000; id++) {
      void start("m", { timeoutMs: 1 });
      vi.advanceTimersByTime(1);
    }
    expect(calls.answer({ id: 0, result: 1 })).toBe(false);
    expect(calls.answer({ id: 1999, result: 1 })).toBe(true);
  });
});

describe("a retry", () => {
  it("is made for -32001 and for no other code", async () => {
    const near = fc.integer({ min: -32_768, max: -31_900 });
    await fc.assert(
      fc.asyncProperty(fc.oneof(near, fc.integer(), fc.constant(-32_001)), async (code) => {
        const { calls, sent, start } = testCalls();
        const call = start();
        calls.answer({ id: 0, error: { code, message: "no" } });
        vi.advanceTimersByTime(5000);
        expect(sent).toHaveLength(code === -32_001 ? 2 : 1);
        calls.answer({ id: 1, result: "ok" });
        const outcome = await call.catch((error: RemoteError) => error.rpcCode);
        expect(outcome).toBe(code === -32_001 ? "ok" : code);
      }),
    );
  });

  it("waits for the delay of the backoff, with jitter from the random source", () => {
    const { calls, sent, start } = testCalls({}, () => 0.5);
    void start();
    for (let attempt = 1; attempt <= 4; attempt++) {
      calls.answer({ id: attempt - 1, error: OVERLOADED });
      const delay = overloadDelayMs(attempt, () => 0.5);
      vi.advanceTimersByTime(delay - 1);
      expect(sent).toHaveLength(attempt);
      vi.advanceTimersByTime(1);
      expect(sent).toHaveLength(attempt + 1);
    }
  });

  it("has a new ID and the params of the first attempt, even if they changed", () => {
    const { calls, sent } = testCalls();
    const params = { list: [1] };
    calls.start("m", params, {}).catch(() => {});
    params.list.push(2);
    calls.answer({ id: 0, error: OVERLOADED });
    vi.advanceTimersByTime(20);
    expect(sent).toEqual([
      { id: 0, method: "m", params: { list: [1] } },
      { id: 1, method: "m", params: { list: [1] } },
    ]);
  });

  it("fails after overloadRetries with the remote refusal", async () => {
    const { calls, sent, start } = testCalls({ overloadRetries: 3 });
    const call = start();
    for (let id = 0; id <= 3; id++) {
      calls.answer({ id, error: OVERLOADED });
      vi.advanceTimersByTime(5000);
    }
    expect(await errorOf(call)).toMatchObject({ code: "remote", rpcCode: -32_001 });
    expect(sent).toHaveLength(4);
  });

  it("frees its slot meanwhile, and respects the limit when it is sent again", () => {
    const { calls, sent, start } = testCalls({ inFlight: 1 });
    void start("refused");
    void start("other");
    calls.answer({ id: 0, error: OVERLOADED });
    expect(sent.map(({ method }) => method)).toEqual(["refused", "other"]);
    vi.advanceTimersByTime(20);
    expect(calls.counts).toEqual({ inFlight: 1, queued: 1 });
    calls.answer({ id: 1, result: 1 });
    expect(sent.map(({ method }) => method)).toEqual(["refused", "other", "refused"]);
  });
});
