import { expect, it } from "vitest";
import type { TopicCaller } from "./topic-caller.ts";
import { CodexError } from "../errors.ts";
import { NotificationWaiter } from "./notification-waiter.ts";

/** A caller whose notifications and loss the test emits. */
function createCaller(): {
  caller: TopicCaller;
  notify: (threadId: string) => void;
  lose: (error: CodexError) => void;
} {
  let onNotification: ((params: { threadId: string }) => void) | undefined;
  let onLost: ((error: CodexError) => void) | undefined;
  return {
    caller: {
      request: () => Promise.reject(new Error("unexpected request")),
      on: (_method, listener) => {
        onNotification = listener as unknown as typeof onNotification;
        return { [Symbol.dispose]: () => void (onNotification = undefined) };
      },
      onLost: (listener) => {
        onLost = listener;
        return { [Symbol.dispose]: () => void (onLost = undefined) };
      },
    },
    notify: (threadId) => onNotification?.({ threadId }),
    lose: (error) => onLost?.(error),
  };
}

it("finds notifications received before and after the call", async () => {
  const { caller, notify } = createCaller();
  using waiter = new NotificationWaiter(caller, "thread/closed");
  notify("a");
  expect(await waiter.until(({ threadId }) => threadId === "a")).toEqual({ threadId: "a" });
  const next = waiter.until(({ threadId }) => threadId === "b");
  notify("a");
  notify("b");
  expect(await next).toEqual({ threadId: "b" });
});

it("rejects when the signal aborts or the timeout passes", async () => {
  const { caller } = createCaller();
  using waiter = new NotificationWaiter(caller, "thread/closed");
  const reason = new Error("enough");
  const aborted = waiter.until(() => true, { signal: AbortSignal.abort(reason) });
  await expect(aborted).rejects.toMatchObject({ code: "aborted", cause: reason });
  await expect(waiter.until(() => true, { timeoutMs: 1 })).rejects.toMatchObject({ code: "timeout" });
});

it("rejects when the server is lost, before and after the call", async () => {
  const { caller, lose } = createCaller();
  using waiter = new NotificationWaiter(caller, "thread/closed");
  const error = new CodexError("connection_lost", "gone");
  const pending = waiter.until(() => true);
  lose(error);
  await expect(pending).rejects.toBe(error);
  await expect(waiter.until(() => true)).rejects.toBe(error);
});
