import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { runCli, startCli } from "../../test/cli-process.ts";

test("options are passed on, also --help and --version", async () => {
  const [help, version, unknown, address] = await Promise.all([
    runCli(["exec-server", "--help"]),
    runCli(["exec-server", "--version"]),
    runCli(["exec-server", "--lisen", "stdio"]),
    runCli(["exec-server", "--listen", "bad"]),
  ]);

  expect(help).toMatchObject({ exitCode: 0, stderr: "" });
  expect(help.stdout).toContain("--ws-auth");
  expect(version.stdout).toMatch(/^codexkit-exec-server \d/);
  expect(unknown).toMatchObject({ exitCode: 2, stdout: "" });
  expect(address).toMatchObject({ exitCode: 2, stdout: "" });
  expect(unknown.stderr).toContain("'--lisen'");
});

test("the commands of the relay are passed on", async () => {
  const [help, unknown] = await Promise.all([
    runCli(["relay", "executor", "--help"]),
    runCli(["relay", "executor", "--remot", "x"]),
  ]);

  expect(help).toMatchObject({ exitCode: 0, stderr: "" });
  expect(help.stdout).toContain("--environment-id");
  expect(unknown).toMatchObject({ exitCode: 2, stdout: "" });
  expect(unknown.stderr).toContain("--remot");
});

test("it serves in the process of the command, until a signal", async () => {
  const child = startCli(["exec-server", "--listen", "ws://127.0.0.1:0"]);
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  const closed = once(child, "close");
  child.kill("SIGTERM");
  await closed;

  expect(line).toMatch(/^ws:\/\/127\.0\.0\.1:\d+/);
  expect(child.exitCode).toBe(0);
});
