import { getEventListeners } from "node:events";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { errorOf } from "../test/error-of.ts";
import { RemoteError, RpcError } from "./errors.ts";
import { OVERLOADED, testCalls } from "../test/outgoing-calls.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe("answers", () => {
  it("settle their calls in any order", async () => {
    const { calls, sent, start } = testCalls();
    const first = start("first");
    const second = start("second");
    expect(sent).toEqual([
      { id: 0, method: "first" },
      { id: 1, method: "second" },
    ]);
    expect(calls.answer({ id: 1, result: "b" })).toBe(true);
    expect(calls.answer({ id: 0, result: "a" })).toBe(true);
    expect(await Promise.all([first, second])).toEqual(["a", "b"]);
  });

  it("that are errors reject with the remote code, message and data", async () => {
    const { calls, start } = testCalls();
    const call = start("thread/start");
    calls.answer({ id: 0, error: { code: -32600, message: "no such thread", data: { id: 5 } } });
    const error = await errorOf(call);
    expect(error).toBeInstanceOf(RemoteError);
    expect(error).toMatchObject({
      code: "remote",
      rpcCode: -32600,
      method: "thread/start",
      data: { id: 5 },
      message: "thread/start: no such thread (-32600)",
    });
  });

  it("are anomalies if they are repeated, unmatched, or have the ID as a string", async () => {
    const { calls, start } = testCalls();
    const call = start();
    expect(calls.answer({ id: "0", result: 1 })).toBe(false);
    expect(calls.answer({ id: 7, result: 1 })).toBe(false);
    expect(calls.answer({ id: 0, result: "right" })).toBe(true);
    expect(calls.answer({ id: 0, result: "wrong" })).toBe(false);
    expect(await call).toBe("right");
  });

  it("settle every call once, for any interleaving of results, errors, refusals, aborts, timeouts and an end", async () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ kind: fc.constant("call" as const), timeoutMs: fc.nat(100) }) },
      { weight: 4, arbitrary: fc.record({ kind: fc.constant("result" as const), pick: fc.nat() }) },
      fc.record({ kind: fc.constantFrom("error" as const, "overload" as const), pick: fc.nat() }),
      fc.record({ kind: fc.constantFrom("abort" as const, "repeat" as const), pick: fc.nat() }),
      fc.record({ kind: fc.constant("wait" as const), ms: fc.nat(60) }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 120 }),
        fc.integer({ min: 1, max: 5 }),
        async (steps, inFlight) => {
          const { calls, sent, start } = testCalls({ inFlight, overloadRetries: 2 });
          const settled: number[] = [];
          const controllers: AbortController[] = [];
          const promises: Promise<unknown>[] = [];
          for (const current of steps) {
            const pickedId = "pick" in current ? sent[current.pick % (sent.length || 1)]?.id : undefined;
            if (current.kind === "call") {
              const index = controllers.length;
              const controller = new AbortController();
              controllers.push(controller);
              settled.push(0);
              const count = (): void => {
                settled[index] = (settled[index] ?? 0) + 1;
              };
              promises.push(
                start("m", { signal: controller.signal, timeoutMs: current.timeoutMs }).then(count, count),
              );
            } else if (current.kind === "wait") {
              vi.advanceTimersByTime(current.ms);
            } else if (current.kind === "abort") {
              controllers[current.pick % (controllers.length || 1)]?.abort();
            } else if (pickedId !== undefined) {
              const error = { error: { code: -32600, message: "no" }, overload: OVERLOADED };
              calls.answer(
                current.kind === "error" || current.kind === "overload"
                  ? { id: pickedId, error: error[current.kind] }
                  : { id: pickedId, result: pickedId },
              );
            }
            expect(calls.counts.inFlight).toBeLessThanOrEqual(inFlight);
          }
          calls.end(new RpcError("closed", "over"));
          await Promise.all(promises);
          expect(settled.every((times) => times === 1)).toBe(true);
          expect(new Set(sent.map(({ id }) => id)).size).toBe(sent.length);
          expect(calls.counts).toEqual({ inFlight: 0, queued: 0 });
          expect(vi.getTimerCount()).toBe(0);
          for (const { signal } of controllers) expect(getEventListeners(signal, "abort")).toEqual([]);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe("the limit of calls in flight", () => {
  it("keeps the rest in a first-in, first-out queue", async () => {
    const { calls, sent, start } = testCalls({ inFlight: 2 });
    const all = ["a", "b", "c", "d"].map((method) => start(method));
    expect(calls.counts).toEqual({ inFlight: 2, queued: 2 });
    calls.answer({ id: 1, result: 1 });
    calls.answer({ id: 0, result: 0 });
    expect(sent.map(({ method }) => method)).toEqual(["a", "b", "c", "d"]);
    calls.answer({ id: 2, result: 2 });
    calls.answer({ id: 3, result: 3 });
    expect(await Promise.all(all)).toEqual([0, 1, 2, 3]);
  });

  it("holds for any number of calls and order of responses, and every call gets its own response", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 8 }),
        fc.array(fc.nat(), { minLength: 1, maxLength: 60 }),
        async (inFlight, picks) => {
          const { calls, sent, start } = testCalls({ inFlight });
          const all = picks.map((_, index) => start(`m${index}`));
          const answered = new Set<number>();
          for (const pick of picks) {
            const open = sent.filter(({ id }) => !answered.has(id));
            expect(open.length).toBeLessThanOrEqual(inFlight);
            const { id, method } = open[pick % open.length] ?? { id: -1, method: "nothing is open" };
            answered.add(id);
            calls.answer({ id, result: method });
          }
          expect(await Promise.all(all)).toEqual(picks.map((_, index) => `m${index}`));
        },
      ),
    );
  });

  it("rejects a call beyond the queue's limit, and accepts calls again when there is room", async () => {
    const { calls, start } = testCalls({ inFlight: 1, queuedCalls: 2 });
    void start();
    void start();
    void start();
    expect(await errorOf(start("one/more"))).toMatchObject({
      code: "queue_full",
      message: "one/more was rejected: 2 calls are already queued (queuedCalls).",
    });
    calls.answer({ id: 0, result: 1 });
    void start();
    expect(calls.counts).toEqual({ inFlight: 1, queued: 2 });
  });

  it("sends calls while there is a free slot, even if the queue's limit is 0", async () => {
    const { calls, start } = testCalls({ inFlight: 1, queuedCalls: 0 });
    const call = start();
    expect((await errorOf(start())).code).toBe("queue_full");
    calls.answer({ id: 0, result: "ok" });
    expect(await call).toBe("ok");
  });

  it("counts calls that wait for a retry as queued", async () => {
    const { calls, start } = testCalls({ inFlight: 10, queuedCalls: 2 });
    void start();
    void start();
    calls.answer({ id: 0, error: OVERLOADED });
    calls.answer({ id: 1, error: OVERLOADED });
    expect(calls.counts).toEqual({ inFlight: 0, queued: 2 });
    expect((await errorOf(start())).code).toBe("queue_full");
  });

  it("holds for a queue of 300,000 calls, in linear time", async () => {
    const { calls, start } = testCalls({ inFlight: 1, queuedCalls: 300_000 });
    const all = Array.from({ length: 300_000 }, () => start("m", { timeoutMs: Infinity }));
    // Takes minutes if each call walks over the slots of the calls that have left the queue.
    for (let id = 0; id < all.length; id++) calls.answer({ id, result: id });
    expect(await Promise.all(all)).toHaveLength(300_000);
  });
});

describe("a transport that rejects a send", () => {
  it("rejects only that call and frees its slot", async () => {
    const { calls, start, sendsWith } = testCalls({ inFlight: 1 });
    sendsWith(({ method }) => {
      if (method === "bad") throw new RpcError("message_too_large", "too large");
      return undefined;
    });
    expect((await errorOf(start("bad"))).code).toBe("message_too_large");
    const good = start("good");
    expect(calls.counts).toEqual({ inFlight: 1, queued: 0 });
    calls.answer({ id: 1, result: 1 });
    expect(await good).toBe(1);
  });

  it("keeps a reason that is not an RpcError as the cause", async () => {
    const { start, sendsWith } = testCalls();
    const cause = new Error("broken");
    sendsWith(() => {
      throw cause;
    });
    expect(await errorOf(start("m"))).toMatchObject({ code: "closed", cause });
  });

  it("rejects a queue of any length without overflowing the stack", async () => {
    const { calls, start, sendsWith } = testCalls({ inFlight: 1 });
    const first = start();
    const rest = Array.from({ length: 30_000 }, () => start());
    sendsWith(() => {
      throw new RpcError("queue_full", "full");
    });
    calls.answer({ id: 0, result: "ok" });
    expect(await first).toBe("ok");
    const outcomes = await Promise.allSettled(rest);
    expect(outcomes.every(({ status }) => status === "rejected")).toBe(true);
    expect(calls.counts).toEqual({ inFlight: 0, queued: 0 });
  });

  it("pauses the queue while the transport asks to wait", async () => {
    const { calls, sent, start, sendsWith } = testCalls();
    const { promise, resolve } = Promise.withResolvers<void>();
    sendsWith(({ method }) => (method === "slow" ? promise : undefined));
    void start("slow");
    void start("next");
    void start("last");
    expect(sent.map(({ method }) => method)).toEqual(["slow"]);
    calls.answer({ id: 0, result: 1 });
    expect(sent).toHaveLength(1);
    resolve();
    await promise;
    expect(sent.map(({ method }) => method)).toEqual(["slow", "next", "last"]);
  });
});

describe("the end", () => {
  it("rejects calls in flight, queued and waiting for a retry with one error, and clears every timer", async () => {
    const { calls, start } = testCalls({ inFlight: 2 });
    const all = Array.from({ length: 6 }, () => start());
    calls.answer({ id: 0, error: OVERLOADED });
    const over = new RpcError("closed", "over");
    calls.end(over);
    for (const call of all) expect(await errorOf(call)).toBe(over);
    expect(await errorOf(start())).toBe(over);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("while the queue is paused sends nothing when the transport resumes", async () => {
    const { calls, sent, start, sendsWith } = testCalls();
    const { promise, resolve } = Promise.withResolvers<void>();
    sendsWith(() => promise);
    void start();
    void start();
    calls.end(new RpcError("closed", "over"));
    resolve();
    await promise;
    expect(sent).toHaveLength(1);
  });
});

describe("params that can't be serialised", () => {
  it("reject the call and send nothing", async () => {
    const { calls, sent } = testCalls();
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    for (const params of [1n, { deep: [2n] }, cycle, () => 1, Symbol("s")]) {
      const error = await errorOf(calls.start("m", params, {}));
      expect(error.code).toBe("unserializable");
    }
    expect(sent).toEqual([]);
    expect(calls.counts).toEqual({ inFlight: 0, queued: 0 });
    expect(vi.getTimerCount()).toBe(0);
  });
});
