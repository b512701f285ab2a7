import type { Turn } from "codexkit";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { StopControl } from "./stop-control.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const never = new Promise<never>(() => {});

/** A turn that Codex does not interrupt. */
const turn = { interrupt: () => Promise.reject(new Error("no connection")) } as unknown as Turn<unknown>;

test.each([
  ["fails", () => Promise.reject(new Error("it can't be ended"))],
  ["never ends", () => never],
])("an evaluation stops even if ending its codex %s", async (_, onUnconfirmed) => {
  const abort = new AbortController();
  using stop = new StopControl({
    deadline: undefined,
    budget: undefined,
    signal: abort.signal,
    onUnconfirmed,
  });
  stop.watchTurn(turn);
  const stopped = stop.race(never).catch((error: unknown) => error);
  abort.abort();
  await vi.runAllTimersAsync();
  expect(await stopped).toMatchObject({ code: "aborted" });
});
