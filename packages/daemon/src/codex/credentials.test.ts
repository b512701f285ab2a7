import { tempFolder } from "@codexkit/testing";
import { mkdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { installCredentials } from "./credentials.ts";

async function homes(): Promise<{ codexHome: string; user: string } & AsyncDisposable> {
  const folder = await tempFolder("credentials");
  const user = join(folder.path, "user");
  await mkdir(user);
  return {
    codexHome: join(folder.path, "daemon"),
    user,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

const login = (token: string): string =>
  JSON.stringify({ auth_mode: "chatgpt", tokens: { access_token: token, account_id: "a" } });

test("prefers the daemon's options to the environment, and the environment to the user's login file", async () => {
  await using folders = await homes();
  const { codexHome, user } = folders;
  await writeFile(join(user, "auth.json"), JSON.stringify({ OPENAI_API_KEY: "from-file" }));
  const base = { codexHome, userCodexHome: user };
  const env = { CODEX_API_KEY: "from-codex-env", OPENAI_API_KEY: "from-openai-env" };
  const stored = async (): Promise<unknown> =>
    JSON.parse(await readFile(join(codexHome, "auth.json"), "utf8"));

  expect(await installCredentials({ ...base, env, apiKey: "from-options" })).toEqual({
    kind: "apiKey",
    source: "options",
  });
  expect(await stored()).toMatchObject({ OPENAI_API_KEY: "from-options" });
  expect(await installCredentials({ ...base, env })).toEqual({ kind: "apiKey", source: "CODEX_API_KEY" });
  expect(await stored()).toMatchObject({ OPENAI_API_KEY: "from-codex-env" });
  expect(await installCredentials({ ...base, env: { OPENAI_API_KEY: "k" } })).toMatchObject({
    source: "OPENAI_API_KEY",
  });
  expect(await installCredentials({ ...base, env: {} })).toEqual({ kind: "apiKey", source: "auth.json" });
  expect(await stored()).toMatchObject({ OPENAI_API_KEY: "from-file" });
  expect((await stat(join(codexHome, "auth.json"))).mode & 0o777).toBe(0o600);
});

test("reports no secret, and reports why a login file can't be used", async () => {
  await using folders = await homes();
  const { codexHome, user } = folders;
  const find = (): ReturnType<typeof installCredentials> =>
    installCredentials({ codexHome, userCodexHome: user, env: {} });
  expect(await find()).toEqual({ kind: "none", source: null });
  await writeFile(join(user, "auth.json"), "secret-text-that-is-not-json");
  const status = await find();
  expect(status).toMatchObject({ kind: "unusable", source: "auth.json" });
  expect(JSON.stringify(status)).not.toContain("secret-text");
});

test("keeps a login that codex has renewed until the user signs in again", async () => {
  await using folders = await homes();
  const { codexHome, user } = folders;
  const source = join(user, "auth.json");
  const copy = join(codexHome, "auth.json");
  const options = { codexHome, userCodexHome: user, env: {} };
  await writeFile(source, login("first"));
  await utimes(source, 1000, 1000);
  expect(await installCredentials(options)).toMatchObject({ kind: "chatgpt", source: "auth.json" });
  await writeFile(copy, login("renewed"));
  await installCredentials(options);
  expect(await readFile(copy, "utf8")).toContain("renewed");
  await writeFile(source, login("second"));
  await utimes(source, Date.now() / 1000 + 60, Date.now() / 1000 + 60);
  await installCredentials(options);
  expect(await readFile(copy, "utf8")).toContain("second");
});
