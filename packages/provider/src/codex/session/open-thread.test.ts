import { gate, say, waitFor } from "@codexkit/scripted-model";
import { expect, it } from "vitest";
import { codexFixture } from "../../../test/codex-fixture.ts";

it("reports every status of an MCP server, including those that arrive with the thread", async () => {
  let failed = gate();
  await using fixture = await codexFixture(() => say(["done", waitFor(failed)]));
  const mcpStdioServers = [{ name: "broken", command: process.execPath, args: ["--version"] }];
  for (let session = 0; session < 6; session += 1) {
    failed = gate();
    const { events } = await fixture.provider.spawn(fixture.spec("go", { mcpStdioServers }));
    const statuses: string[] = [];
    for await (const event of events) {
      if (event.kind !== "system" || event.subtype !== "mcpServer/startupStatus/updated") continue;
      const { status } = (event.raw as { raw: { params: { status: string } } }).raw.params;
      statuses.push(status);
      // The turn ends only after this, because Codex does not wait for a server that takes longer than a second.
      if (status !== "starting") failed.open();
    }
    expect(statuses).toEqual(["starting", "failed"]);
  }
});
