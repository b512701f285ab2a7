import { expect, test } from "vitest";
import { AsyncDisposableStack, DisposableStack } from "./disposable-stack.ts";

test("disposes of everything, newest first, once", () => {
  const calls: string[] = [];
  const stack = new DisposableStack();
  stack.defer(() => void calls.push("first"));
  stack.use(undefined);
  stack.use({ [Symbol.dispose]: () => void calls.push("second") });

  stack.dispose();
  stack.dispose();

  expect(calls).toEqual(["second", "first"]);
});

test("disposes of the rest when one throws, and reports every error", () => {
  const stack = new DisposableStack();
  const fail = (message: string): Disposable => ({
    [Symbol.dispose]: () => {
      throw new Error(message);
    },
  });
  stack.use(fail("one"));
  expect(() => stack.dispose()).toThrow("one");

  stack.use(fail("two"));
  stack.use(fail("three"));
  expect(() => stack.dispose()).toThrow(AggregateError);
});

test("disposes of nothing that was moved out of a scope", () => {
  const calls: string[] = [];
  let moved: DisposableStack;
  {
    using stack = new DisposableStack();
    stack.use({ [Symbol.dispose]: () => void calls.push("disposed") });
    moved = stack.move();
  }
  expect(calls).toEqual([]);
  moved.dispose();
  expect(calls).toEqual(["disposed"]);
});

test("awaits each asynchronous disposal before the next", async () => {
  const calls: string[] = [];
  const stack = new AsyncDisposableStack();
  stack.use({ [Symbol.dispose]: () => void calls.push("synchronous") });
  stack.defer(() => {
    calls.push("deferred");
  });
  stack.use({
    [Symbol.asyncDispose]: async () => {
      calls.push("started");
      await Promise.resolve();
      calls.push("ended");
    },
  });

  await stack.move().disposeAsync();
  await stack.disposeAsync();

  expect(calls).toEqual(["started", "ended", "deferred", "synchronous"]);
});

test("disposes of the rest when an asynchronous disposal rejects", async () => {
  const calls: string[] = [];
  const stack = new AsyncDisposableStack();
  stack.defer(() => calls.push("last"));
  stack.defer(async () => {
    throw new Error("failed");
  });

  await expect(stack.disposeAsync()).rejects.toThrow("failed");
  expect(calls).toEqual(["last"]);
});
