import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { startEndingServer } from "../../test/ending-server.ts";
import { DEFAULT_STORE_LIMITS } from "../limits.ts";
import { PostgresLock } from "./postgres-lock.ts";

test("a lock that could not be acquired is not acquired later", async () => {
  await using server = await startEndingServer();
  const acquired = PostgresLock.acquire(server.config, DEFAULT_STORE_LIMITS, "test", () => {});
  await expect(acquired).rejects.toMatchObject({ code: "store_unavailable" });
  // Longer than the pause between two attempts.
  await delay(1_500);
  expect(server.connections).toBe(1);
});
