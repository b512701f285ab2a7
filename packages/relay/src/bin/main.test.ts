// Runs the program from source, as users start it.
import { OwnedProcess, tempFolder } from "@codexkit/testing";
import { once } from "node:events";
import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ENVIRONMENT, startTestRegistry, type TestRegistry } from "../../test/registry-fixture.ts";
import { connectHarness } from "../harness/connect-harness.ts";

const BIN = ["--conditions=codexkit:source", join(import.meta.dirname, "main.ts")];

let registry: TestRegistry;
let tokens: { readonly execute: string; readonly connect: string };

beforeAll(async () => {
  registry = await startTestRegistry();
  tokens = { execute: await registry.token("execute"), connect: await registry.token("connect") };
});

afterAll(() => registry[Symbol.asyncDispose]());

function start(args: readonly string[], env: Record<string, string> = {}): OwnedProcess {
  return new OwnedProcess({
    command: process.execPath,
    args: [...BIN, ...args],
    env: { ...process.env, ...env },
  });
}

async function finish(args: readonly string[], env: Record<string, string> = {}) {
  await using program = start(args, env);
  let stdout = "";
  program.child.stdout.on("data", (bytes: Buffer) => {
    stdout += String(bytes);
  });
  const { code } = await program.ended;
  return { code, stdout, stderr: program.stderrTail };
}

const executor = (...more: string[]) => [
  "executor",
  "--remote",
  registry.url,
  "--environment-id",
  ENVIRONMENT,
  ...more,
];

test("serves this machine, without its token in the environment of commands, until a signal", async () => {
  await using program = start(executor("--name", "box", "--log-level", "debug"), {
    CODEXKIT_RELAY_TOKEN: tokens.execute,
    KEPT: "yes",
  });
  const [line] = (await once(program.child.stdout, "data")) as [Buffer];
  expect(String(line)).toBe(`Connected to ${registry.url} as the executor of ${ENVIRONMENT} (box).\n`);
  await using client = await connectHarness({
    registryUrl: registry.url,
    environmentId: ENVIRONMENT,
    credential: tokens.connect,
  });
  const envPolicy = {
    inherit: "all" as const,
    ignoreDefaultExcludes: true,
    exclude: [],
    set: {},
    includeOnly: [],
  };
  const command = await client.start({ argv: ["/usr/bin/env"], cwd: "/", env: {}, envPolicy });
  const { stdout } = await command.collect();
  expect(String(stdout)).toContain("KEPT=yes");
  expect(String(stdout)).not.toContain(tokens.execute);
  program.child.kill("SIGTERM");
  expect((await program.ended).code).toBe(0);
  expect(program.stderrTail).toContain('"registered"');
  expect(program.stderrTail).not.toContain(tokens.execute);
});

test("reads credentials from stdin, and exits when the pipe closes", async () => {
  await using program = start(executor("--executor-credential-stdin"));
  const frame = { version: 1, environment_id: ENVIRONMENT, token: tokens.execute, expires_at: 4_000_000_000 };
  program.child.stdin.write(`${JSON.stringify(frame)}\n`);
  await once(program.child.stdout, "data");
  program.child.stdin.end();
  expect((await program.ended).code).toBe(0);
});

test("exits when its parent closes stdin, with the flag for it", async () => {
  await using folder = await tempFolder("token");
  const tokenFile = join(folder.path, "token");
  await writeFile(tokenFile, tokens.execute);
  await using program = start(executor("--token-file", tokenFile, "--exit-on-stdin-close"));
  await once(program.child.stdout, "data");
  program.child.stdin.end();
  expect((await program.ended).code).toBe(0);
});

test("keeps its keys in a file, and prints the public one", async () => {
  await using folder = await tempFolder("identity");
  const path = join(folder.path, "keys");
  const first = await finish(["identity", "--identity-file", path]);
  expect(JSON.parse(first.stdout)).toMatchObject({ suite: "Noise_hybridIK_X25519+MLKEM768_AESGCM_SHA256" });
  expect(await finish(["identity", "--identity-file", path])).toEqual(first);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readFile(path, "utf8")).not.toContain(
    (JSON.parse(first.stdout) as Record<string, string>)["x25519_public_key"],
  );
  await chmod(path, 0o640);
  const open = await finish(["identity", "--identity-file", path]);
  expect(open).toMatchObject({ code: 2, stdout: "" });
  expect(open.stderr).toContain(`(permissions 640). Run: chmod 600 ${path}`);
  await chmod(path, 0o600);
  await writeFile(path, "hidden");
  const broken = await finish(["identity", "--identity-file", path]);
  expect(broken).toMatchObject({ code: 2, stdout: "" });
  expect(broken.stderr).toContain(`--identity-file: ${path}`);
  expect(broken.stderr).not.toContain("hidden");
});

test("names the invalid flag, with exit code 2", async () => {
  const outcomes = await Promise.all([
    finish(["executor"]),
    finish(["executor", "--remote", "nonsense", "--environment-id", "e"], { CODEXKIT_RELAY_TOKEN: "t" }),
    finish(executor("--use-agent-identity-auth")),
    finish(executor("--aws-sigv4")),
    finish(executor("--aws-profile", "p")),
    finish(["executor", "--remtoe", "http://127.0.0.1:9"]),
    finish(executor("--bwrap", "/nonexistent"), { CODEXKIT_RELAY_TOKEN: "t" }),
    finish(executor(), { CODEXKIT_RELAY_TOKEN: "two words" }),
    finish(executor("--log-level", "loud")),
    finish(executor(), { CODEX_HOME: "/nonexistent", CODEXKIT_RELAY_TOKEN: "", CODEX_API_KEY: "" }),
    finish(executor(), { CODEXKIT_RELAY_TOKEN: "wrong" }),
  ]);
  const flags = [
    "--remote",
    "--remote",
    "--use-agent-identity-auth",
    "--aws-sigv4",
    "--aws-profile",
    "--remtoe",
    "--bwrap",
    "characters that are not allowed in a token",
    "--log-level",
    "--token-file",
    "401",
  ];
  expect(outcomes.map(({ code }) => code)).toEqual([2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1]);
  for (const [index, { stderr }] of outcomes.entries()) expect(stderr).toContain(flags[index]);
});

test("prints help and the version", async () => {
  const [help, version] = await Promise.all([finish(["executor", "--help"]), finish(["--version"])]);
  expect(help).toMatchObject({ code: 0, stderr: "" });
  expect(help.stdout).toContain("Examples:");
  const manifest = JSON.parse(await readFile(join(import.meta.dirname, "../../package.json"), "utf8")) as {
    version: string;
  };
  expect(version.stdout).toBe(`${manifest.version}\n`);
});
