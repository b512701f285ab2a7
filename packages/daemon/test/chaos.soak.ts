import { STORE_KINDS } from "@codexkit/store/testing";
import { describe, test } from "vitest";
import { runDaemonChaos } from "./chaos.ts";
import { useDatabases } from "./database-fixture.ts";

/** `CODEXKIT_CHAOS_SEED` repeats the random choices of an earlier run. */
const seed = Number(process.env["CODEXKIT_CHAOS_SEED"] ?? Date.now() % 2 ** 32);
const rounds = 30;

describe.each(STORE_KINDS)("a daemon on %s", (kind) => {
  const databases = useDatabases(kind);

  test("loses nothing and does nothing twice, whichever processes are killed", async () => {
    process.stdout.write(`seed ${seed}\n`);
    await runDaemonChaos({
      kind,
      locations: databases.locations,
      rounds,
      seed,
      onRound: (summary) => process.stdout.write(`${summary}\n`),
    });
  });
});
