import { tempFolder } from "@codexkit/testing";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";

test("npm start without a terminal shows a turn, prints what to try, and ends", async () => {
  await using home = await tempFolder("demo");
  const temp = join(home.path, "temp");
  await mkdir(temp);
  const { CODEX_HOME: _codexHome, CODEX_API_KEY: _own, OPENAI_API_KEY: _key, ...env } = process.env;
  const child = spawn(process.execPath, [join(import.meta.dirname, "../scripts/demo.ts")], {
    env: { ...env, HOME: home.path, TMPDIR: temp },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);

  expect({ exitCode: child.exitCode, stderr }).toMatchObject({ exitCode: 0 });
  expect(stdout).toMatch(
    /\$ echo Hello[^]*exit 0[^]*completed in[^]*URL {4}http:\/\/127\.0\.0\.1:\d+\n {2}token {2}ckd_/,
  );
  expect(stdout).toContain("codexkit attach ");
  expect(await readdir(join(home.path, ".codexkit/daemons"))).toEqual([]);
});
