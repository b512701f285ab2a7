import { expect, it } from "vitest";
import type { CodexError } from "../errors.ts";
import { CodexError as LostError } from "../errors.ts";
import { NoticeWaiter } from "./notice-waiter.ts";
import type { TopicCaller } from "./topic-caller.ts";

/** A caller that hears what the test says. */
function caller(): {
  caller: TopicCaller;
  say: (threadId: string) => void;
  lose: (error: CodexError) => void;
} {
  let hear: ((params: { threadId: string }) => void) | undefined;
  let lost: ((error: CodexError) => void) | undefined;
  return {
    caller: {
      request: () => Promise.reject(new Error("nobody calls")),
      on: (_method, listener) => {
        hear = listener as unknown as typeof hear;
        return { [Symbol.dispose]: () => void (hear = undefined) };
      },
      onLost: (listener) => {
        lost = listener;
        return { [Symbol.dispose]: () => void (lost = undefined) };
      },
    },
    say: (threadId) => hear?.({ threadId }),
    lose: (error) => lost?.(error),
  };
}

it("knows what it heard before it was asked, and what comes after", async () => {
  const { caller: to, say } = caller();
  using waiter = new NoticeWaiter(to, "thread/closed");
  say("a");
  expect(await waiter.until(({ threadId }) => threadId === "a")).toEqual({ threadId: "a" });
  const next = waiter.until(({ threadId }) => threadId === "b");
  say("a");
  say("b");
  expect(await next).toEqual({ threadId: "b" });
});

it("ends by its signal, its limit, and the loss of the server, before and after", async () => {
  const { caller: to, lose } = caller();
  using waiter = new NoticeWaiter(to, "thread/closed");
  const reason = new Error("enough");
  const aborted = waiter.until(() => true, { signal: AbortSignal.abort(reason) });
  await expect(aborted).rejects.toMatchObject({ code: "aborted", cause: reason });
  await expect(waiter.until(() => true, { timeoutMs: 1 })).rejects.toMatchObject({ code: "timeout" });
  const error = new LostError("connection_lost", "gone");
  const pending = waiter.until(() => true);
  lose(error);
  await expect(pending).rejects.toBe(error);
  await expect(waiter.until(() => true)).rejects.toBe(error);
});
