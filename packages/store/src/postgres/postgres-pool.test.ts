import { expect, test } from "vitest";
import { startEndingServer } from "../../test/ending-server.ts";
import { DEFAULT_STORE_LIMITS } from "../limits.ts";
import { RetryingPool } from "./postgres-pool.ts";

test("a server that ends a connection in the moment in which it is ready does not crash the process", async () => {
  await using server = await startEndingServer();
  const pool = new RetryingPool(server.config, { ...DEFAULT_STORE_LIMITS, connectMs: 200 }, () => {});
  await expect(pool.connect()).rejects.toMatchObject({ code: "store_unavailable" });
  expect(server.connections).toBeGreaterThan(1);
  await pool.end();
});
