import { expect, test, vi } from "vitest";
import { startEndingServer } from "../../test/ending-server.ts";
import { DEFAULT_STORE_LIMITS } from "../limits.ts";
import { PostgresConnection } from "./postgres-connection.ts";

test("a connection that is lost while it is opened is reported by `open` only", async () => {
  await using server = await startEndingServer();
  const onLost = vi.fn<() => void>();
  const connection = new PostgresConnection(server.config, DEFAULT_STORE_LIMITS, onLost);
  await expect(connection.open()).rejects.toBeInstanceOf(Error);
  expect(connection.hasEnded).toBe(true);
  expect(onLost).not.toHaveBeenCalled();
});
