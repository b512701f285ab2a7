import { say } from "@codexkit/scripted-model";
import { expect, it } from "vitest";
import { codexFixture, ofKind } from "../../../test/codex-fixture.ts";

it("reports every status of an MCP server, also those that arrive with the thread", async () => {
  await using fixture = await codexFixture(() => say("done"));
  const mcpStdioServers = [{ name: "broken", command: process.execPath, args: ["--version"] }];
  for (let session = 0; session < 6; session += 1) {
    const transcript = await fixture.run("go", { mcpStdioServers });
    const statuses = ofKind(transcript, "system")
      .filter(({ subtype }) => subtype === "mcpServer/startupStatus/updated")
      .map(({ raw }) => (raw as { raw: { params: { status: string } } }).raw.params.status);
    expect(statuses).toEqual(["starting", "failed"]);
  }
});
