import { describe, expect, it } from "vitest";
import type { AgentHandle } from "./agent-provider.ts";
import { IdempotentSpawns } from "./idempotent-spawns.ts";
import { ProviderError } from "./provider-error.ts";

const SPEC = { prompt: "Do it", cwd: "/tmp" };

function spawner(): {
  spawns: IdempotentSpawns<AgentHandle>;
  spawn: () => Promise<AgentHandle>;
  count: () => number;
} {
  let count = 0;
  const spawn = async (): Promise<AgentHandle> => ({ sessionId: String((count += 1)) }) as AgentHandle;
  return { spawns: new IdempotentSpawns(), spawn, count: () => count };
}

describe("spawns by idempotency key", () => {
  it("start one session per key, and one per call without a key", async () => {
    const { spawns, spawn, count } = spawner();
    const key = { idempotencyKey: "a" };
    const first = await spawns.once(SPEC, key, spawn);
    expect(await spawns.once({ ...SPEC, onProcessSpawned: () => {} }, key, spawn)).toBe(first);
    expect(count()).toBe(1);
    expect(await spawns.once(SPEC, { idempotencyKey: "b" }, spawn)).not.toBe(first);
    await spawns.once(SPEC, {}, spawn);
    await spawns.once(SPEC, {}, spawn);
    expect(count()).toBe(4);
  });

  it("refuse a key that was used for a different spec", async () => {
    const { spawns, spawn } = spawner();
    await spawns.once(SPEC, { idempotencyKey: "a" }, spawn);
    const other = spawns.once({ ...SPEC, prompt: "Do that" }, { idempotencyKey: "a" }, spawn);
    await expect(other).rejects.toMatchObject({ code: "idempotency_conflict" });
  });

  it("forget a spawn that failed", async () => {
    const { spawns, spawn } = spawner();
    const key = { idempotencyKey: "a" };
    await expect(spawns.once(SPEC, key, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await spawns.once(SPEC, key, spawn)).toMatchObject({ sessionId: "1" });
  });

  it("let a second caller cancel without ending the session of the first", async () => {
    const { spawns } = spawner();
    const opened = Promise.withResolvers<AgentHandle>();
    const key = { idempotencyKey: "a" };
    const first = spawns.once(SPEC, key, () => opened.promise);
    const second = spawns.once(SPEC, { ...key, signal: AbortSignal.abort() }, () => opened.promise);
    await expect(second).rejects.toMatchObject({ code: "context_cancelled" });
    const handle = { sessionId: "1" } as AgentHandle;
    opened.resolve(handle);
    expect(await first).toBe(handle);
  });

  it("are repeated for a second caller if the first cancels", async () => {
    const { spawns, spawn, count } = spawner();
    const key = { idempotencyKey: "a" };
    const cancelled = Promise.withResolvers<AgentHandle>();
    const first = spawns.once(SPEC, key, () => cancelled.promise);
    const others = [spawns.once(SPEC, key, spawn), spawns.once(SPEC, key, spawn)];
    cancelled.reject(new ProviderError("context_cancelled", "The first caller left."));
    await expect(first).rejects.toMatchObject({ code: "context_cancelled" });
    const [second, third] = await Promise.all(others);
    expect(second).toMatchObject({ sessionId: "1" });
    expect(third).toBe(second);
    expect(count()).toBe(1);
  });

  it("are remembered up to a limit, beyond which the oldest is forgotten", async () => {
    const { spawns, spawn, count } = spawner();
    for (let key = 0; key < 1025; key += 1) await spawns.once(SPEC, { idempotencyKey: `${key}` }, spawn);
    await spawns.once(SPEC, { idempotencyKey: "1024" }, spawn);
    expect(count()).toBe(1025);
    await spawns.once(SPEC, { idempotencyKey: "0" }, spawn);
    expect(count()).toBe(1026);
  });
});
