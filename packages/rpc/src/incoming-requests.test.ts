import { setImmediate as nextTurn } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Received } from "../test/raw-end.ts";
import { RequestFailure } from "./errors.ts";
import {
  type AnyRequestHandler,
  IncomingRequests,
  type RequestContext,
  UNANSWERED,
} from "./incoming-requests.ts";
import type { RequestId } from "./message.ts";

function testRequests(limit = 100) {
  const replies: Received[] = [];
  const requests = new IncomingRequests(limit, (text) => replies.push(JSON.parse(text) as Received));
  return {
    requests,
    replies,
    serve: (handler: AnyRequestHandler | undefined, id: RequestId = 0) =>
      requests.serve({ id, method: "m", params: { p: 1 } }, handler),
  };
}

/** Runs one request with a handler and returns its response. */
async function replyOf(handler: AnyRequestHandler): Promise<Received> {
  const { replies, serve } = testRequests();
  serve(handler);
  await nextTurn();
  expect(replies).toHaveLength(1);
  return replies[0] ?? {};
}

describe("a handler", () => {
  it("gets the params and the whole message, and its result is sent", async () => {
    const { requests, replies } = testRequests();
    const seen: unknown[] = [];
    const message = { id: "x", method: "m", params: [1], emittedAtMs: 5 };
    requests.serve(message, (params, { id, method, message: whole, signal }) => {
      seen.push(params, id, method, whole, signal.aborted);
      return { ok: true };
    });
    await nextTurn();
    expect(seen).toEqual([[1], "x", "m", message, false]);
    expect(replies).toEqual([{ id: "x", result: { ok: true } }]);
  });

  it("runs outside the read loop", async () => {
    const { serve } = testRequests();
    const order: string[] = [];
    serve(() => order.push("handler"));
    order.push("read loop");
    await nextTurn();
    expect(order).toEqual(["read loop", "handler"]);
  });

  it("is answered with the request's ID, unchanged in type", async () => {
    const ids = fc.oneof(fc.maxSafeInteger(), fc.string({ unit: "binary" }), fc.constantFrom(0, "0", ""));
    await fc.assert(
      fc.asyncProperty(ids, async (id) => {
        const { replies, serve } = testRequests();
        serve(() => 1, id);
        serve(undefined, id);
        await nextTurn();
        expect(replies.map((reply) => reply.id)).toEqual([id, id]);
      }),
    );
  });

  it("that returns undefined is answered with null", async () => {
    expect(await replyOf(() => {})).toEqual({ id: 0, result: null });
    expect(await replyOf(() => Promise.resolve())).toEqual({ id: 0, result: null });
  });

  it("may return falsy values", async () => {
    expect(await replyOf(() => 0)).toEqual({ id: 0, result: 0 });
    expect(await replyOf(() => false)).toEqual({ id: 0, result: false });
    expect(await replyOf(() => "")).toEqual({ id: 0, result: "" });
  });

  it("that throws a RequestFailure chooses the error", async () => {
    const reply = await replyOf(() => {
      throw new RequestFailure(-32_000, "not now", { why: "busy" });
    });
    expect(reply).toEqual({ id: 0, error: { code: -32_000, message: "not now", data: { why: "busy" } } });
  });

  const cycle: { self?: unknown } = {};
  cycle.self = cycle;

  it.each([
    ["a cycle", cycle],
    ["a bigint", 1n],
    ["a function", () => 1],
    ["undefined", undefined],
  ])("that fails with %s for data is answered without the data", async (_name, data) => {
    const reply = await replyOf(() => Promise.reject(new RequestFailure(5, "no", data)));
    expect(reply).toEqual({ id: 0, error: { code: 5, message: "no" } });
  });

  it("that fails with a non-integer code is answered as an internal error", async () => {
    const reply = await replyOf(() => Promise.reject(new RequestFailure(Number.NaN, "no")));
    expect(reply.error).toEqual({ code: -32_603, message: "no" });
  });

  it.each<[string, unknown, string]>([
    ["an error", new TypeError("broken"), "broken"],
    ["a string", "just text", "just text"],
    ["undefined", undefined, "undefined"],
    ["null", null, "null"],
    ["a symbol", Symbol("odd"), "Symbol(odd)"],
    [
      "an object without a string representation",
      Object.create(null),
      "A value without a string representation was thrown.",
    ],
    [
      "an error whose message is not a string",
      Object.assign(new Error("x"), { message: 1n }),
      "The handler failed.",
    ],
  ])("that throws %s is answered as an internal error", async (_name, thrown, message) => {
    for (const handler of [
      () => {
        throw thrown;
      },
      () => Promise.reject(thrown),
    ]) {
      expect(await replyOf(handler)).toEqual({ id: 0, error: { code: -32_603, message } });
    }
  });

  it.each<[string, unknown]>([
    ["a bigint", { big: 1n }],
    ["a cycle", cycle],
    ["a function", () => 1],
    ["a symbol", Symbol("s")],
    ["an object whose toJSON returns undefined", { toJSON: () => undefined }],
  ])("whose result is %s is answered with an error", async (_name, result) => {
    const reply = await replyOf(() => result);
    expect(reply.error?.code).toBe(-32_603);
    expect(reply.error?.message).toMatch(/^The result of m can't be serialised as JSON: /);
  });
});

describe("a request", () => {
  it("without a handler is answered with -32601 immediately", () => {
    const { replies, serve } = testRequests();
    serve(undefined, "id");
    expect(replies).toEqual([{ id: "id", error: { code: -32_601, message: "Method not found: m" } }]);
  });

  it("beyond the limit is answered with -32001 until another one has finished", async () => {
    const { replies, serve } = testRequests(2);
    const gate = Promise.withResolvers<string>();
    serve(() => gate.promise, 1);
    serve(() => gate.promise, 2);
    serve(() => gate.promise, 3);
    expect(replies).toEqual([{ id: 3, error: { code: -32_001, message: "Overloaded; retry later." } }]);
    gate.resolve("done");
    await nextTurn();
    serve(() => "more", 4);
    await nextTurn();
    expect(replies.slice(1)).toEqual([
      { id: 1, result: "done" },
      { id: 2, result: "done" },
      { id: 4, result: "more" },
    ]);
  });

  it("that failed frees its slot too", async () => {
    const { replies, serve } = testRequests(1);
    for (let id = 0; id < 3; id++) {
      serve(() => Promise.reject(new Error("no")), id);
      await nextTurn();
    }
    expect(replies.map(({ error }) => error?.code)).toEqual([-32_603, -32_603, -32_603]);
  });
});

describe("the end", () => {
  it("aborts the signal of each running handler with the reason, and sends no response", async () => {
    const { requests, replies, serve } = testRequests();
    const contexts: RequestContext[] = [];
    const handler: AnyRequestHandler = (_params, context) => {
      contexts.push(context);
      return new Promise((resolve, reject) => {
        const settle = contexts.length % 2 === 0 ? resolve : reject;
        context.signal.addEventListener("abort", () => settle(context.signal.reason as Error));
      });
    };
    serve(handler, 1);
    serve(handler, 2);
    await nextTurn();
    const reason = new Error("over");
    requests.end(reason);
    await nextTurn();
    expect(contexts.map(({ signal }) => signal.reason as unknown)).toEqual([reason, reason]);
    expect(replies).toEqual([]);
  });

  it("does not start a handler that was still queued", async () => {
    const { requests, replies, serve } = testRequests();
    let begun = false;
    serve(() => (begun = true));
    requests.end(new Error("over"));
    await nextTurn();
    expect(begun).toBe(false);
    expect(replies).toEqual([]);
  });

  it("sends nothing for a handler that returns UNANSWERED", async () => {
    const { replies, serve } = testRequests();
    serve(() => UNANSWERED);
    await nextTurn();
    expect(replies).toEqual([]);
  });
});
