import { expect, it } from "vitest";
import { capabilityTable, documentedTable } from "./capability-table.ts";

it("docs/provider.md lists the capabilities that the code declares", async () => {
  expect(await documentedTable(), "run packages/provider/scripts/capability-table.ts").toEqual(
    capabilityTable(),
  );
});
