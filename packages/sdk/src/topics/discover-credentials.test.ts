import { tempFolder } from "@codexkit/testing";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Credentials, discoverCredentials } from "./discover-credentials.ts";

const SECRET = "sk-very-secret";

function jwt(claims: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  return [part({ alg: "none" }), part(claims), "signature"].join(".");
}

/** Discovers credentials in a file system with one file. */
function withFile(text: string, env: Record<string, string> = {}, path = join("/codex", "auth.json")) {
  return discoverCredentials({
    env,
    codexHome: "/codex",
    readFile: (asked) =>
      asked === path
        ? Promise.resolve(text)
        : Promise.reject(Object.assign(new Error("no such file"), { code: "ENOENT" })),
  });
}

describe("the search order", () => {
  const file = JSON.stringify({ OPENAI_API_KEY: "of the file" });
  it("is CODEX_API_KEY, OPENAI_API_KEY, auth.json", async () => {
    const both = { CODEX_API_KEY: "of codex", OPENAI_API_KEY: "of openai" };
    expect(await withFile(file, both)).toEqual({
      kind: "apiKey",
      source: "CODEX_API_KEY",
      apiKey: "of codex",
    });
    expect(await withFile(file, { OPENAI_API_KEY: "of openai" })).toMatchObject({ source: "OPENAI_API_KEY" });
    expect(await withFile(file)).toMatchObject({
      kind: "apiKey",
      source: "auth.json",
      apiKey: "of the file",
    });
  });

  it("ignores empty variables", async () => {
    expect(await withFile(file, { CODEX_API_KEY: " ", OPENAI_API_KEY: "" })).toMatchObject({
      source: "auth.json",
    });
  });
});

describe("auth.json", () => {
  const tokens = {
    access_token: jwt({ exp: 2_000_000_000 }),
    id_token: jwt({ email: "a@b.c" }),
    account_id: "acc",
  };

  it("with a ChatGPT login has the account, email and expiry", async () => {
    expect(await withFile(JSON.stringify({ OPENAI_API_KEY: null, tokens }))).toEqual({
      kind: "chatgpt",
      source: "auth.json",
      path: join("/codex", "auth.json"),
      accessToken: tokens.access_token,
      accountId: "acc",
      email: "a@b.c",
      expiresAt: new Date(2_000_000_000_000),
    });
  });

  it("without a mode, as in older versions, needs only tokens", async () => {
    expect(await withFile(JSON.stringify({ tokens: { access_token: "opaque" } }))).toEqual({
      kind: "chatgpt",
      source: "auth.json",
      path: join("/codex", "auth.json"),
      accessToken: "opaque",
    });
  });

  it("with a key and tokens follows its mode, else uses the key", async () => {
    const both = { OPENAI_API_KEY: SECRET, tokens };
    expect(await withFile(JSON.stringify(both))).toMatchObject({ kind: "apiKey" });
    expect(await withFile(JSON.stringify({ ...both, auth_mode: "apikey" }))).toMatchObject({
      kind: "apiKey",
    });
    expect(await withFile(JSON.stringify({ ...both, auth_mode: "chatgpt" }))).toMatchObject({
      kind: "chatgpt",
    });
  });

  it.each([
    ["invalid JSON", `{"OPENAI_API_KEY": "${SECRET}"`],
    ["an array", `["${SECRET}"]`],
    ["a key that is not a string", `{"OPENAI_API_KEY": {"key": "${SECRET}"}}`],
    ["an empty token", `{"tokens": {"access_token": "", "id_token": "${SECRET}"}}`],
    ["no login", "{}"],
  ])("with %s is unusable and leaks no secret", async (_what, text) => {
    const found = await withFile(text);
    expect(found.kind).toBe("unusable");
    expect(JSON.stringify(found)).not.toContain("secret");
  });

  it("is unusable if it can't be read", async () => {
    const denied = Object.assign(new Error(`denied ${SECRET}`), { code: "EACCES" });
    const found = await discoverCredentials({
      env: {},
      codexHome: "/c",
      readFile: () => Promise.reject(denied),
    });
    expect(found).toMatchObject({ kind: "unusable", reason: "it can't be read (EACCES)" });
  });

  it("gives no credentials if it does not exist", async () => {
    expect(await withFile("", {}, "elsewhere")).toEqual({ kind: "none" });
  });
});

describe("the folder", () => {
  it("is CODEX_HOME, or .codex in the home", async () => {
    await using folder = await tempFolder("credentials");
    const write = async (where: string, apiKey: string): Promise<void> => {
      await mkdir(join(folder.path, where));
      await writeFile(join(folder.path, where, "auth.json"), JSON.stringify({ OPENAI_API_KEY: apiKey }));
    };
    await write(".codex", "of the home");
    await write("private", "of CODEX_HOME");
    const found = (env: Record<string, string>): Promise<Credentials> =>
      discoverCredentials({ env, home: folder.path });
    expect(await found({})).toMatchObject({ apiKey: "of the home" });
    expect(await found({ CODEX_HOME: join(folder.path, "private") })).toMatchObject({
      apiKey: "of CODEX_HOME",
    });
  });
});
