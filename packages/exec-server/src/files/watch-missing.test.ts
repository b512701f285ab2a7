import { tempFolder } from "@codexkit/testing";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { RawClient } from "../../test/raw-client.ts";
import { ExecServer } from "../server/exec-server.ts";

test("tells once when what was missing appears, or what was present changes", async () => {
  await using folder = await tempFolder("watch");
  await using server = await ExecServer.start();
  using client = await RawClient.ready(server.url ?? "");
  const uri = (name: string) => `file://${join(folder.path, name)}`;
  await writeFile(join(folder.path, "there"), "1");
  const watch = async (watchId: number, missing: string[], present?: string) =>
    (
      await client.call("fs/watchMissing", {
        watchId,
        missing: missing.map(uri),
        ...(present === undefined ? {} : { present: uri(present) }),
      })
    ).result?.["watching"];
  expect(await watch(1, [])).toBe(false);
  expect(await watch(2, ["there"])).toBe(false);
  expect(await watch(3, ["gone"], "also-gone")).toBe(false);
  expect(
    await watch(
      4,
      Array.from({ length: 5_000 }, (_, index) => `x${index}`),
    ),
  ).toBe(false);
  expect(await watch(5, ["a/b/c"])).toBe(true);
  expect(await watch(6, ["z"], "there")).toBe(true);
  await mkdir(join(folder.path, "a"));
  await client.until(({ method, params }) => method === "fs/missingChanged" && params?.["watchId"] === 5);
  await writeFile(join(folder.path, "there"), "2");
  await client.until(({ method, params }) => method === "fs/missingChanged" && params?.["watchId"] === 6);
  expect(client.messages.filter(({ method }) => method === "fs/missingChanged").length).toBe(2);
});
