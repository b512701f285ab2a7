// As conformance.test.ts, with many more profiles.
import { tempFolder } from "@codexkit/testing";
import { expect, test } from "vitest";
import { compareFileOperations, compareServers, describeDifference } from "../../test/sandbox-verdicts.ts";
import { startServer } from "../../test/servers.ts";
import { ExecClient } from "../client/exec-client.ts";

const LIMIT_MS = 3_600_000;

test("a sandbox gives the same verdicts as Codex's own", { timeout: LIMIT_MS }, async () => {
  await using folder = await tempFolder("conformance");
  await using ownServer = await startServer("ours");
  await using codexServer = await startServer("codex");
  await using ours = await ExecClient.connect(ownServer.url);
  await using codex = await ExecClient.connect(codexServer.url);
  const range = { firstSeed: 100_000, profiles: 1_000, actions: 20 };
  const { cases, unexplained } = await compareServers({ ours, codex }, folder.path, range);
  expect(unexplained.map(describeDifference)).toEqual([]);
  expect(cases).toBe(20_000);
});

test("file operations get the verdicts of commands", { timeout: LIMIT_MS }, async () => {
  await using folder = await tempFolder("conformance");
  await using server = await startServer("ours");
  await using client = await ExecClient.connect(server.url);
  const range = { firstSeed: 200_000, profiles: 500, actions: 20 };
  const { cases, differences } = await compareFileOperations(client, folder.path, range);
  expect(differences).toEqual([]);
  expect(cases).toBeGreaterThan(5_000);
});
