// Codex's own executor and its own harness through our registry and rendezvous.
import { run, say } from "@codexkit/scripted-model";
import { expect, test } from "vitest";
import { runTurn, startRealExecutor, startRealHarness } from "./real-codex.ts";
import { ENVIRONMENT, startTestRegistry, waitForExecutor } from "./registry-fixture.ts";

test("a turn of the real app-server runs a command on the real executor", { timeout: 60_000 }, async () => {
  await using registry = await startTestRegistry();
  const at = { registryUrl: registry.url, environmentId: ENVIRONMENT };
  await using _executor = await startRealExecutor({ ...at, token: await registry.token("execute") });
  await waitForExecutor(registry);
  await using harness = await startRealHarness({ ...at, token: await registry.token("connect") }, [
    [run("echo remote; exit 3", { callId: "c" })],
    [say("done")],
  ]);
  expect(await runTurn(harness)).toBe("completed");
  expect(harness.model.requests.at(-1)?.commandResult("c")).toEqual({ output: "remote\n", exitCode: 3 });
  const events = registry.audit.map((line) => (JSON.parse(line) as { audit: string }).audit);
  expect(events).toEqual(
    expect.arrayContaining([
      "executor.registered",
      "executor.connected",
      "harness.authorized",
      "harness.connected",
      "harness.validated",
    ]),
  );
});
