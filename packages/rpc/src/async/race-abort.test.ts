import { expect, test } from "vitest";

import { raceAbort } from "./race-abort.ts";

test("settles like the promise if the signal is not aborted", async () => {
  const { signal } = new AbortController();

  await expect(raceAbort(Promise.resolve(1), signal)).resolves.toBe(1);
  await expect(raceAbort(Promise.reject(new Error("failed")), signal)).rejects.toThrow("failed");
  await expect(raceAbort(Promise.resolve(2), undefined)).resolves.toBe(2);
});

test("rejects with the signal's reason when it aborts", async () => {
  const controller = new AbortController();
  const race = raceAbort(new Promise<never>(() => {}), controller.signal);

  controller.abort(new Error("enough"));

  await expect(race).rejects.toThrow("enough");
});

test("rejects with the caller's error, also when the signal has already aborted and the promise has settled", async () => {
  const signal = AbortSignal.abort("reason");

  const race = raceAbort(Promise.resolve(1), signal, ({ reason }) => new Error(`aborted: ${String(reason)}`));

  await expect(race).rejects.toThrow("aborted: reason");
});

test("a promise that rejects after the abort is not an unhandled rejection", async () => {
  const late = Promise.withResolvers<never>();
  const controller = new AbortController();
  const race = raceAbort(late.promise, controller.signal);
  controller.abort(new Error("enough"));
  await expect(race).rejects.toThrow("enough");

  late.reject(new Error("too late"));
});
