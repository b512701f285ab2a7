import { describe, expect, expectTypeOf, it, vi } from "vitest";
import { RemoteError, RequestFailure, RpcError, type RpcErrorCode, toError } from "./errors.ts";

describe("the error classes", () => {
  it("recognise their own errors and no others", () => {
    const closed: unknown = new RpcError("closed", "x");
    const remote: unknown = new RemoteError("m", { code: 1, message: "x" });
    const failure: unknown = new RequestFailure(1, "x");
    expect([closed, remote, failure].map((error) => RpcError.is(error))).toEqual([true, true, false]);
    expect([closed, remote, failure].map((error) => RemoteError.is(error))).toEqual([false, true, false]);
    expect([closed, remote, failure].map((error) => RequestFailure.is(error))).toEqual([false, false, true]);
    if (RpcError.is(closed)) expectTypeOf(closed.code).toEqualTypeOf<RpcErrorCode>();
    if (RemoteError.is(remote)) expectTypeOf(remote.rpcCode).toEqualTypeOf<number>();
  });

  it("recognise the errors of another copy of the package", async () => {
    vi.resetModules();
    const copy = await import("./errors.ts");
    const remote = new copy.RemoteError("m", { code: 1, message: "x" });
    expect(remote).not.toBeInstanceOf(RpcError);
    expect(RpcError.is(remote)).toBe(true);
    expect(RemoteError.is(remote)).toBe(true);
    expect(RequestFailure.is(new copy.RequestFailure(1, "x"))).toBe(true);
  });

  it.each([[new Error("x")], [{ code: "closed" }], ["closed"], [null], [undefined]])(
    "don't recognise %o",
    (value) => {
      expect(RpcError.is(value)).toBe(false);
      expect(RemoteError.is(value)).toBe(false);
      expect(RequestFailure.is(value)).toBe(false);
    },
  );
});

describe("toError", () => {
  it("keeps errors and converts other values", () => {
    const error = new Error("x");
    expect(toError(error)).toBe(error);
    expect(toError("text").message).toBe("text");
    expect(toError(Object.create(null)).message).toBe("A value without a string representation was thrown.");
  });
});
