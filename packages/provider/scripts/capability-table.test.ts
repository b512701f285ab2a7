import { expect, it } from "vitest";
import { capabilityTable, documentedTable } from "./capability-table.ts";

it("docs/provider.md has the capabilities that the code has", async () => {
  expect(await documentedTable(), "run packages/provider/scripts/capability-table.ts").toEqual(
    capabilityTable(),
  );
});
