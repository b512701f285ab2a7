import { repetitions } from "@codexkit/testing";
import { STORE_KINDS } from "@codexkit/store/testing";
import fc from "fast-check";
import { describe, test } from "vitest";
import { useDatabases } from "../../test/database-fixture.ts";
import { fleetCommands, walkFleet } from "../../test/fleet-model.ts";
import { ownershipCommands, walkOwnership } from "../../test/ownership-commands.ts";
import { LockStepStore, ModelStore } from "../../test/ownership-stores.ts";

/** Thousands of transactions, which take a while on a busy machine. */
const SLOW = { timeout: repetitions({ test: 240_000, soak: 3_600_000 }) };

test(
  "no two nodes act for one session during any faults, and every session is owned again afterwards",
  SLOW,
  async () => {
    await fc.assert(
      fc.asyncProperty(fleetCommands(60), (commands) => walkFleet(commands, new ModelStore())),
      { numRuns: repetitions({ test: 1_000, soak: 100_000 }) },
    );
  },
);

describe.each(STORE_KINDS)("the ownership machine and the queries of %s", (kind) => {
  const databases = useDatabases(kind);

  test("have the same results and states after each operation of live and lost nodes", SLOW, async () => {
    await using database = await databases.open();
    await fc.assert(
      fc.asyncProperty(ownershipCommands(60), async (commands) =>
        walkOwnership(commands, await LockStepStore.create(database)),
      ),
      { numRuns: repetitions({ test: 25, soak: 2_000 }), endOnFailure: true },
    );
  });

  test("have the same results while simulated nodes run on them", SLOW, async () => {
    await using database = await databases.open();
    await fc.assert(
      fc.asyncProperty(fleetCommands(20), async (commands) =>
        walkFleet(commands, await LockStepStore.create(database)),
      ),
      { numRuns: repetitions({ test: kind === "sqlite" ? 10 : 2, soak: 100 }), endOnFailure: true },
    );
  });
});
