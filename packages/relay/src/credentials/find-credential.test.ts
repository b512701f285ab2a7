import { tempFolder } from "@codexkit/testing";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { awsCredential } from "./aws-credential.ts";
import type { RelayCredential } from "./credential.ts";
import { findCredential, removeSecrets } from "./find-credential.ts";
import { parseRegistryUrl } from "./registry-host.ts";

const LOCAL = "http://127.0.0.1:1";
const REMOTE = "https://registry.example";
const NEVER = new AbortController().signal;

const headersOf = (credential: RelayCredential, url = LOCAL) =>
  credential.authorize({ method: "POST", url, headers: {}, body: "" }, NEVER);

test("a token file takes precedence over variables, and is read again for each request", async () => {
  await using folder = await tempFolder("credential");
  const tokenFile = join(folder.path, "token");
  const credential = findCredential({ url: REMOTE, tokenFile, env: { CODEXKIT_RELAY_TOKEN: "other" } });
  await writeFile(tokenFile, "one\n");
  expect(await headersOf(credential)).toEqual({ authorization: "Bearer one" });
  await writeFile(tokenFile, "two\n");
  expect(await headersOf(credential)).toEqual({ authorization: "Bearer two" });
  await writeFile(tokenFile, "\n");
  await expect(headersOf(credential)).rejects.toThrow(`--token-file: ${tokenFile} is empty.`);
});

test("CODEXKIT_RELAY_TOKEN goes to any registry, CODEX_API_KEY only to OpenAI and to this machine", async () => {
  const own = findCredential({ url: REMOTE, env: { CODEXKIT_RELAY_TOKEN: "own", CODEX_API_KEY: "sk" } });
  expect(await headersOf(own)).toEqual({ authorization: "Bearer own" });
  const env = { CODEX_API_KEY: "sk" };
  for (const url of [
    LOCAL,
    "http://[::1]:1",
    "http://localhost",
    "https://api.openai.com",
    "https://openai.org",
  ]) {
    expect(await headersOf(findCredential({ url, env }))).toEqual({ authorization: "Bearer sk" });
  }
  for (const url of [
    REMOTE,
    "http://api.openai.com",
    "https://openai.com.example",
    "https://notopenai.com",
  ]) {
    expect(() => findCredential({ url, env })).toThrow("CODEX_API_KEY is only sent to");
  }
});

test("Codex's login is used with its account, or with its API key", async () => {
  await using home = await tempFolder("codex-home");
  const credential = findCredential({ url: REMOTE, env: { CODEX_HOME: home.path } });
  await expect(headersOf(credential)).rejects.toMatchObject({ code: "unauthorized" });
  const path = join(home.path, "auth.json");
  await writeFile(
    path,
    JSON.stringify({ tokens: { access_token: "chatgpt", account_id: "acc", id_token: "x" } }),
  );
  expect(await headersOf(credential, REMOTE)).toEqual({
    authorization: "Bearer chatgpt",
    "chatgpt-account-id": "acc",
  });
  await writeFile(path, JSON.stringify({ OPENAI_API_KEY: "sk-file", tokens: null }));
  expect(await headersOf(credential)).toEqual({ authorization: "Bearer sk-file" });
  await expect(headersOf(credential, REMOTE)).rejects.toMatchObject({ code: "bad_option" });
  await writeFile(path, '{"tokens": hidden-broken');
  const error = await headersOf(credential).catch(String);
  expect(error).toContain("codex login");
  expect(error).not.toContain("hidden");
});

test("tokens are removed from the environment of commands", () => {
  const env = {
    CODEXKIT_RELAY_TOKEN: "a",
    CODEX_API_KEY: "b",
    CODEX_ACCESS_TOKEN: "c",
    CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN: "d",
    PATH: "/bin",
  };
  removeSecrets(env);
  expect(env).toEqual({ PATH: "/bin" });
});

test("a registry's URL must be https, on this machine, or explicitly allowed to be plain http", () => {
  expect(parseRegistryUrl("https://r.example/base/", false).href).toBe("https://r.example/base");
  expect(parseRegistryUrl("http://127.0.0.1:80/", false).href).toBe("http://127.0.0.1/");
  expect(parseRegistryUrl("http://10.0.0.1", true).href).toBe("http://10.0.0.1/");
  for (const url of [
    "http://10.0.0.1",
    "ftp://r.example",
    "nonsense",
    "https://u:p@r.example",
    "https://r.example?x",
  ]) {
    expect(() => parseRegistryUrl(url, false)).toThrow("--remote");
  }
});

test("SigV4 signs with the keys of the environment or of a profile", async () => {
  await using home = await tempFolder("aws");
  const config = join(home.path, "config");
  const credentials = join(home.path, "credentials");
  await writeFile(config, "[default]\nregion = eu-west-1\n[profile dev]\nregion=eu-west-3\n");
  await writeFile(credentials, "[dev]\naws_access_key_id = AKDEV\naws_secret_access_key=hidden\n");
  const files = { AWS_CONFIG_FILE: config, AWS_SHARED_CREDENTIALS_FILE: credentials };
  const keys = { AWS_ACCESS_KEY_ID: "AKENV", AWS_SECRET_ACCESS_KEY: "hidden", AWS_SESSION_TOKEN: "session" };
  const fromEnv = await headersOf(awsCredential({}, { ...files, ...keys }), "https://api.example/a b");
  expect(fromEnv["authorization"]).toMatch(
    /^AWS4-HMAC-SHA256 Credential=AKENV\/\d{8}\/eu-west-1\/execute-api\//,
  );
  expect(fromEnv["x-amz-security-token"]).toBe("session");
  const fromProfile = await headersOf(
    awsCredential({ profile: "dev", service: "lambda" }, { ...files, ...keys }),
  );
  expect(fromProfile["authorization"]).toMatch(/Credential=AKDEV\/\d{8}\/eu-west-3\/lambda\//);
  expect(Object.keys(fromProfile).toSorted()).toEqual(["authorization", "x-amz-date"]);
  await expect(headersOf(awsCredential({}, files))).rejects.toMatchObject({ code: "unauthorized" });
  await expect(headersOf(awsCredential({}, { ...keys, HOME: home.path }))).rejects.toThrow("--aws-region");
});
