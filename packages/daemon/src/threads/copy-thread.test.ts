import { expect, test } from "vitest";
import { cliHomeFixture, threadIdOf } from "../../test/cli-home-fixture.ts";
import { useDatabases } from "../../test/database-fixture.ts";
import { copyThread } from "./copy-thread.ts";

const databases = useDatabases("sqlite");

test("refuses a line that is too long to be loaded, in a whole copy as in a fork", async () => {
  await using database = await databases.open();
  await using home = await cliHomeFixture(database);
  await home.write(threadIdOf(1), ["x".repeat(65 * 1024 * 1024)]);
  for (const options of [{}, { threadId: threadIdOf(2) }]) {
    await using files = await home.threads.open(threadIdOf(1));
    await expect(Array.fromAsync(copyThread(files, options))).rejects.toMatchObject({
      code: "thread_unreadable",
    });
  }
});
