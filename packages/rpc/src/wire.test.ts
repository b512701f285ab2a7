import { describe, expectTypeOf, it } from "vitest";
import type { MethodOf, ParamsArgument, Peer, RequestContext, Wire } from "./index.ts";

interface TestWire extends Wire {
  calls: {
    "thread/start": { params: { cwd: string }; result: { id: string } };
    "model/list": { params: { limit?: number } | undefined; result: string[] };
    logout: { params: undefined; result: null };
  };
  sends: { initialized: undefined; progress: { done: number } };
  answers: { approve: { params: { command: string }; result: "yes" | "no" } };
  receives: { "turn/started": { turnId: string }; ping: undefined };
}

declare const peer: Peer<TestWire>;
declare const anyPeer: Peer;

/** Checked by the compiler, never run. */
function unrun(check: () => unknown): void {
  void check;
}

describe("a typed wire", () => {
  it("types the params and the result of a call", () => {
    unrun(() => {
      expectTypeOf(peer.request("thread/start", { cwd: "" })).toEqualTypeOf<Promise<{ id: string }>>();
      expectTypeOf(peer.request("model/list")).toEqualTypeOf<Promise<string[]>>();
      expectTypeOf(peer.request("model/list", { limit: 1 })).toEqualTypeOf<Promise<string[]>>();
      expectTypeOf(peer.request("logout", undefined, { timeoutMs: 1 })).toEqualTypeOf<Promise<null>>();
    });
  });

  it("rejects an unknown method", () => {
    unrun(() => {
      // @ts-expect-error -- no such call
      void peer.request("thread/stop", {});
      // @ts-expect-error -- a request is not a notification
      void peer.notify("thread/start", { cwd: "" });
      // @ts-expect-error -- the other side sends no such request
      peer.handle("thread/start", () => ({ id: "" }));
      // @ts-expect-error -- the other side sends no such notification
      peer.on("initialized", () => {});
    });
  });

  it("rejects missing params and params of another shape", () => {
    unrun(() => {
      // @ts-expect-error -- the params are needed
      void peer.request("thread/start");
      // @ts-expect-error -- cwd is a string
      void peer.request("thread/start", { cwd: 1 });
      // @ts-expect-error -- the params are needed
      void peer.notify("progress");
      // @ts-expect-error -- there are no params
      void peer.notify("initialized", {});
    });
  });

  it("allows omitting params whose type includes undefined", () => {
    expectTypeOf<ParamsArgument<undefined>>().toEqualTypeOf<[params?: undefined]>();
    expectTypeOf<ParamsArgument<string | undefined>>().toEqualTypeOf<[params?: string | undefined]>();
    expectTypeOf<ParamsArgument<string, [more?: number]>>().toEqualTypeOf<[params: string, more?: number]>();
    unrun(() => {
      expectTypeOf(peer.notify("initialized")).toEqualTypeOf<Promise<void>>();
      expectTypeOf(peer.notify("progress", { done: 1 })).toEqualTypeOf<Promise<void>>();
    });
  });

  it("types what a handler gets and must return", () => {
    unrun(() => {
      peer.handle("approve", (params, context) => {
        expectTypeOf(params).toEqualTypeOf<{ command: string }>();
        expectTypeOf(context).toEqualTypeOf<RequestContext>();
        return Promise.resolve("yes" as const);
      });
      // @ts-expect-error -- "maybe" is not a valid result
      peer.handle("approve", () => "maybe");
      peer.on("turn/started", (params) => {
        expectTypeOf(params).toEqualTypeOf<{ turnId: string }>();
      });
    });
  });

  it("is optional: any method, unknown values", () => {
    expectTypeOf<MethodOf<TestWire["receives"]>>().toEqualTypeOf<"turn/started" | "ping">();
    unrun(() => {
      expectTypeOf(anyPeer.request("anything")).toEqualTypeOf<Promise<unknown>>();
      expectTypeOf(anyPeer.request("anything", { a: 1 })).toEqualTypeOf<Promise<unknown>>();
      anyPeer.handle("anything", (params) => {
        expectTypeOf(params).toBeUnknown();
        return params;
      });
    });
  });
});
