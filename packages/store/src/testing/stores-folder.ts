import { tmpdir } from "node:os";

/**
 * The folder for stores that no test needs after its process has ended. A database of Postgres is 300 files,
 * which take 10 times as long to create on a disk as in memory.
 */
export function storesFolder(): string {
  return process.env["CODEXKIT_TEST_MEMORY"] ?? tmpdir();
}
