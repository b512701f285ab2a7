import { OwnedProcess, tempFolder, type TempFolder } from "@codexkit/testing";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RawSocket, register } from "../../../test/raw-ends.ts";
import { collectLimits, collectScopes, parseDuration, parseEpoch, parseListen } from "./parse-values.ts";

const PROGRAM = fileURLToPath(new URL("../../../test/registry-program.ts", import.meta.url));

function start(...args: string[]): OwnedProcess {
  return new OwnedProcess({
    command: process.execPath,
    args: ["--conditions=codexkit:source", PROGRAM, ...args],
    env: process.env,
  });
}

async function output(...args: string[]): Promise<string> {
  await using program = start(...args);
  let text = "";
  program.child.stdout.on("data", (chunk: Buffer) => (text += String(chunk)));
  const { code } = await program.ended;
  if (code !== 0) throw new Error(program.stderrTail);
  return text;
}

describe("values of options", () => {
  test("durations", () => {
    expect([parseDuration("90s"), parseDuration("12h"), parseDuration("30d")]).toEqual([90e3, 432e5, 2592e6]);
    for (const wrong of ["", "0s", "x", "1", "-1s", "1.5h"])
      expect(() => parseDuration(wrong)).toThrow("duration");
  });

  test("epochs", () => {
    expect([parseEpoch("0"), parseEpoch("9007199254740991")]).toEqual([0, Number.MAX_SAFE_INTEGER]);
    for (const wrong of ["", "-1", "1.5", "1e3", "9007199254740992", "x"])
      expect(() => parseEpoch(wrong)).toThrow("integer");
  });

  test("addresses", () => {
    expect(parseListen("4400")).toEqual({ host: "127.0.0.1", port: 4400 });
    expect(parseListen("[::1]:0")).toEqual({ host: "::1", port: 0 });
    expect(parseListen("relay.example:80")).toEqual({ host: "relay.example", port: 80 });
    for (const wrong of ["", "x", "1.2.3.4", "h:70000", "::1"])
      expect(() => parseListen(wrong)).toThrow("HOST:PORT");
  });

  test("scopes", () => {
    expect(collectScopes("connect", collectScopes("execute,connect"))).toEqual(["execute", "connect"]);
    expect(() => collectScopes("root")).toThrow("execute, connect, admin, metrics");
  });

  test("limits", () => {
    expect(collectLimits("idleMs=5", collectLimits("stallMs=Infinity"))).toEqual({
      stallMs: Infinity,
      idleMs: 5,
    });
    for (const wrong of ["x=1", "toString=1", "idleMs", "idleMs=0", "idleMs=x"]) {
      expect(() => collectLimits(wrong)).toThrow(/Expected/);
    }
  });
});

describe("a registry as a program", () => {
  let folder: TempFolder;
  let server: OwnedProcess;
  let admin: string[];
  let url: string;

  beforeAll(async () => {
    folder = await tempFolder("registry");
    server = start(
      "serve",
      "--store",
      folder.path,
      "--listen",
      "127.0.0.1:0",
      "--limit",
      "executorsPerEnvironment=1",
    );
    const [line] = (await once(server.child.stdout, "data")) as [Buffer];
    url = String(line).trim();
    admin = ["--url", url, "--token-file", join(folder.path, "admin-token")];
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  test("creates, lists and revokes tokens, and lists environments", { timeout: 60_000 }, async () => {
    const scope = ["--scope", "execute", "--environment", "box", "--expires", "1h"];
    const token = (await output("token", "create", "laptop", ...scope, ...admin)).trim();
    const { url: socketUrl } = await register(url, token, { environmentId: "box" });
    const executor = await RawSocket.open(socketUrl);
    const listed = await output("token", "list", ...admin);
    expect(listed).toMatch(/^ID +NAME +SCOPES +ENVIRONMENT +STATE\n/);
    const [, id = ""] = /^(\S+) +laptop +execute +box +until /m.exec(listed) ?? [];
    const environments = JSON.parse(await output("environments", "list", "--json", ...admin)) as unknown[];
    expect(environments).toEqual([{ environmentId: "box", online: 1, registeredAt: expect.any(Number) }]);
    expect(await output("token", "revoke", id, ...admin)).toBe(`Revoked ${id}.\n`);
    expect((await executor.closed).code).toBe(1008);
  });

  test("exits without an error after SIGTERM, also with open sockets", async () => {
    const token = JSON.parse(
      await output("token", "create", "c", "--scope", "execute", "--all-environments", "--json", ...admin),
    ) as { token: string };
    const { url: socketUrl } = await register(url, token.token, { environmentId: "other" });
    const executor = await RawSocket.open(socketUrl);
    server.child.kill("SIGTERM");
    expect((await executor.closed).code).toBe(1001);
    expect(await server.ended).toMatchObject({ code: 0 });
    expect(server.stderrTail).toBe("");
  });
});

test("a registry exits when its terminal is closed, as after SIGTERM", async () => {
  await using folder = await tempFolder("registry");
  await using server = start("serve", "--store", folder.path, "--listen", "127.0.0.1:0");
  await once(server.child.stdout, "data");
  server.child.kill("SIGHUP");
  expect(await server.ended).toMatchObject({ code: 0 });
});

test("the error of a command without a registry or a token explains what to do", async () => {
  const failed = async (...args: string[]): Promise<string> => {
    await using program = start(...args);
    expect((await program.ended).code).not.toBe(0);
    return program.stderrTail;
  };
  await using folder = await tempFolder("registry");
  const missing = join(folder.path, "missing");
  expect(await failed("token", "list", "--token-file", missing)).toContain("Name it with --token-file");
  const plain = ["token", "list", "--token-file", missing, "--url", "http://relay.example:4400"];
  expect(await failed(...plain)).toContain("plain HTTP would show tokens to the network");
  expect(await failed(...plain, "--allow-insecure-http")).toContain("Name it with --token-file");
  const both = ["token", "create", "x", "--scope", "connect"];
  expect(await failed(...both, "--token-file", missing)).toContain(
    "--environment <id> or --all-environments",
  );
});
