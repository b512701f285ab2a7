import { tempFolder } from "@codexkit/testing";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { CliTerminal } from "../packages/cli/test/cli-terminal.ts";

const DEMO = join(import.meta.dirname, "../scripts/demo.ts");

test("npm start without a terminal shows a turn, prints what to try, and ends", async () => {
  await using home = await tempFolder("demo");
  const temp = join(home.path, "temp");
  await mkdir(temp);
  const { CODEX_HOME: _codexHome, CODEX_API_KEY: _own, OPENAI_API_KEY: _key, ...env } = process.env;
  const child = spawn(process.execPath, [DEMO], {
    env: { ...env, HOME: home.path, TMPDIR: temp },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);

  expect({ exitCode: child.exitCode, stderr }).toMatchObject({ exitCode: 0 });
  expect(stdout).toMatch(
    /\$ echo Hello[^]*exit 0[^]*completed in[^]*URL {4}http:\/\/127\.0\.0\.1:\d+\n {2}token {2}ckd_/,
  );
  expect(stdout).toContain("codexkit attach ");
  expect(stdout).toMatch(/Open the web console[^]*http:\/\/127\.0\.0\.1:\d+\/console\/login#code=ckl_/);
  expect(await readdir(join(home.path, ".codexkit/daemons"))).toEqual([]);
});

test("npm start on a terminal serves until Ctrl-C, which ends everything", async () => {
  await using home = await tempFolder("demo");
  const temp = join(home.path, "temp");
  await mkdir(temp);
  await using terminal = new CliTerminal([DEMO], {
    program: [],
    columns: 120,
    env: { HOME: home.path, TMPDIR: temp, CODEX_HOME: undefined },
  });
  await terminal.waitFor("Press Ctrl-C to end everything.");
  const [, url = ""] = /^ {2}URL {4}(\S+)$/m.exec(terminal.text) ?? [];
  expect((await fetch(`${url}/health`)).ok).toBe(true);
  const [, token = ""] = /^ {2}token {2}(\S+)$/m.exec(terminal.text) ?? [];
  const inbox = await fetch(`${url}/inbox?state=open`, { headers: { authorization: `Bearer ${token}` } });
  expect(await inbox.json()).toMatchObject({ data: [{ kind: "command" }] });
  terminal.write("\u0003");

  expect(await terminal.exited).toBe(0);
  await expect(fetch(`${url}/health`)).rejects.toThrow("fetch failed");
  expect(await readdir(join(home.path, ".codexkit/daemons"))).toEqual([]);
});
