// Generated profiles and actions, on our server and on Codex's own: the verdicts are the same, or the reason is known.
import { tempFolder } from "@codexkit/testing";
import { expect, test } from "vitest";
import { compareFileOperations, compareServers, describeDifference } from "../../test/sandbox-verdicts.ts";
import { startServer } from "../../test/servers.ts";
import { ExecClient } from "../client/exec-client.ts";

/** 25 sandboxes on each server with 20 actions each: seconds on a quiet machine. */
const LIMIT_MS = 240_000;

test("a sandbox gives the same verdicts as Codex's own", { timeout: LIMIT_MS }, async () => {
  await using folder = await tempFolder("conformance");
  await using ownServer = await startServer("ours");
  await using codexServer = await startServer("codex");
  await using ours = await ExecClient.connect(ownServer.url);
  await using codex = await ExecClient.connect(codexServer.url);
  const range = { firstSeed: 1, profiles: 25, actions: 20 };
  const { cases, unexplained } = await compareServers({ ours, codex }, folder.path, range);
  expect(unexplained.map(describeDifference)).toEqual([]);
  expect(cases).toBe(500);
});

/** Found by the soak run. */
const ONCE_DIFFERENT = [100_091, 100_256, 100_491, 100_615, 100_652, 100_736, 100_904];

test("profiles that once got other verdicts", { timeout: LIMIT_MS }, async () => {
  await using folder = await tempFolder("conformance");
  await using ownServer = await startServer("ours");
  await using codexServer = await startServer("codex");
  await using ours = await ExecClient.connect(ownServer.url);
  await using codex = await ExecClient.connect(codexServer.url);
  for (const firstSeed of ONCE_DIFFERENT) {
    const range = { firstSeed, profiles: 1, actions: 20 };
    const { unexplained } = await compareServers({ ours, codex }, folder.path, range);
    expect(unexplained.map(describeDifference)).toEqual([]);
  }
});

test("file operations get the verdicts of commands", { timeout: LIMIT_MS }, async () => {
  await using folder = await tempFolder("conformance");
  await using server = await startServer("ours");
  await using client = await ExecClient.connect(server.url);
  const range = { firstSeed: 1, profiles: 10, actions: 20 };
  const { cases, differences } = await compareFileOperations(client, folder.path, range);
  expect(differences).toEqual([]);
  expect(cases).toBeGreaterThan(100);
});
