import { CodexError, type Codex } from "codexkit";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ownedSession, useDatabases } from "../../test/database-fixture.ts";
import { restoreThread } from "./restore-thread.ts";

const databases = useDatabases("sqlite");

/** A codex that refuses to delete threads. */
const refusing = (error: Error): Codex =>
  ({
    deleteThread: async () => {
      throw error;
    },
  }) as unknown as Codex;

async function storedThread() {
  const database = await databases.open();
  const codexHome = await mkdtemp(join(tmpdir(), "restore-"));
  const owner = await ownedSession(database);
  const chunk = { rolloutId: "thread", path: "thread.jsonl", role: "main", atByte: 0 } as const;
  const data = new TextEncoder().encode("stored\n");
  await database.journal.write({
    owner,
    also: async (trx) => void (await database.rollouts.append(trx, owner, { ...chunk, data })),
  });
  const path = join(codexHome, chunk.path);
  await writeFile(path, "stored\nlonger\n");
  const options = { sessionId: owner.sessionId, codexHome, rollouts: database.rollouts };
  return {
    options,
    path,
    [Symbol.asyncDispose]: async () => {
      await database[Symbol.asyncDispose]();
      await rm(codexHome, { recursive: true });
    },
  };
}

test("a thread that could not be deleted keeps its file", async () => {
  await using stored = await storedThread();
  const codex = refusing(new CodexError("timeout", "Codex did not respond."));
  await expect(restoreThread(codex, stored.options)).rejects.toMatchObject({ code: "timeout" });
  expect(await readFile(stored.path, "utf8")).toBe("stored\nlonger\n");
});

test("a thread that Codex does not know is restored", async () => {
  await using stored = await storedThread();
  const codex = refusing(new CodexError("thread_not_found", "There is no such thread."));
  expect(await restoreThread(codex, stored.options)).toBe(1);
  expect(await readFile(stored.path, "utf8")).toBe("stored\n");
});
