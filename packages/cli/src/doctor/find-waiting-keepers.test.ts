import { tempFolder } from "@codexkit/testing";
import { processTable } from "codexkit/process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findWaitingKeepers } from "./find-waiting-keepers.ts";

test("a keeper waits while no daemon is connected to it", async () => {
  await using temp = await tempFolder("keepers");
  const folder = join(temp.path, "codexkit-server-a");
  const start = processTable().one(process.pid)?.start;
  await mkdir(folder);
  await writeFile(join(folder, "keeper.json"), JSON.stringify({ pid: process.pid, start }));
  const path = join(folder, "app-server.sock");
  const server = createServer().listen(path);
  await once(server, "listening");

  expect(findWaitingKeepers(temp.path)).toEqual({ pids: [process.pid], isCertain: true });

  const accepted = once(server, "connection");
  const daemon = connect(path);
  await accepted;
  expect(findWaitingKeepers(temp.path)).toEqual({ pids: [], isCertain: true });
  // A system without /proc.
  const blind = findWaitingKeepers(temp.path, join(temp.path, "missing"));
  expect(blind).toEqual({ pids: [process.pid], isCertain: false });

  daemon.destroy();
  server.close();
  await writeFile(join(folder, "keeper.json"), JSON.stringify({ pid: process.pid, start: "earlier" }));
  expect(findWaitingKeepers(temp.path).pids).toEqual([]);
});
