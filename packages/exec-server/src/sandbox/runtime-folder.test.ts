import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { runtimeFolder } from "../../test/processes.ts";
import { sandboxFixture } from "../../test/sandbox-fixture.ts";
import { ownIdentity } from "./process-identity.ts";
import { JOURNAL, openRuntimeFolder } from "./runtime-folder.ts";

test("an entry that is no link any more does not keep a server from starting", () => {
  using first = openRuntimeFolder();
  // No process with our ID has started at this time.
  const identity = ownIdentity().replace(/\d+$/, "1");
  const abandoned = join(dirname(first.path), `${identity}.test`);
  mkdirSync(join(abandoned, JOURNAL), { recursive: true });
  writeFileSync(join(abandoned, JOURNAL, "entry"), "");
  using _second = openRuntimeFolder();
  expect(existsSync(abandoned)).toBe(false);
});

test("a server goes on when its folder is removed", { timeout: 60_000 }, async () => {
  await using it = await sandboxFixture();
  const before = await it.run("echo up", it.workspaceWrite());
  expect(before.output).toContain("up");
  const folder = await runtimeFolder(it.client);
  expect(await readdir(folder)).toContain("denied");

  await rm(folder, { recursive: true });
  await it.put("ws/.env");
  const secret = it.path("ws/.env", "deny");
  expect((await it.run("echo up; cat .env; mkdir .git", it.workspaceWrite([secret]))).output).toMatch(
    /^up\n.*denied/s,
  );
  await it.client.files.write(it.at("ws/file"), "x", { sandbox: it.workspaceWrite([secret]) });
  // More processes than one batch of pipes has room for.
  const all = await Promise.all(
    Array.from({ length: 140 }, () => it.client.start({ argv: ["/bin/cat"], cwd: "/", pipeStdin: true })),
  );
  for (const process of all) await process.kill();
});
