// Calls to an HTTP server whose answers are chosen by each test.
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { bearerToken } from "../credentials/credential.ts";
import { parseRegistryUrl } from "../credentials/registry-host.ts";
import { generateIdentity, toPublicKeyJson } from "../noise/identity.ts";
import { RegistryClient } from "./registry-client.ts";

interface Received {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Record<string, unknown>;
}

type Answer = readonly [status: number, body: unknown, headers?: Record<string, string>];

const NEVER = new AbortController().signal;
const { publicKey } = generateIdentity();
const KEY = toPublicKeyJson(publicKey);
const REGISTERED = {
  environment_id: "env 1",
  url: "ws://127.0.0.1:1/r",
  security_profile: "noise_hybrid_ik_v1",
  executor_registration_id: "reg",
};
const CONNECTED = { ...REGISTERED, executor_public_key: KEY, harness_key_authorization: "auth" };

async function registry(answer: Answer, env: NodeJS.ProcessEnv = {}) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (bytes: Buffer) => {
      text += String(bytes);
    });
    request.on("end", () => {
      const body = JSON.parse(text) as Record<string, unknown>;
      received.push({ path: request.url ?? "", headers: request.headers, body });
      const [status, content, headers] = answer;
      response.writeHead(status, headers);
      response.end(typeof content === "string" ? content : JSON.stringify(content));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address() as { port: number };
  const client = new RegistryClient({
    url: parseRegistryUrl(`http://127.0.0.1:${address.port}/base/`, false),
    environmentId: "env 1",
    credential: bearerToken("hidden-token", { accountId: "account" }),
    env,
  });
  return {
    client,
    received,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

test("registers a key and returns where to connect", async () => {
  await using it = await registry([200, REGISTERED], { OPENAI_CLUSTER: "c1", DD_SERVICE: "svc" });
  const registration = await it.client.register(publicKey, NEVER);
  expect(registration).toEqual({ url: REGISTERED.url, registrationId: "reg" });
  expect(it.received[0]?.path).toBe("/base/cloud/environment/env%201/register");
  expect(it.received[0]?.body).toEqual({ security_profile: "noise_hybrid_ik_v1", executor_public_key: KEY });
  expect(it.received[0]?.headers).toMatchObject({
    authorization: "Bearer hidden-token",
    "chatgpt-account-id": "account",
    "content-type": "application/json",
    "x-cluster-name": "c1",
    "x-openai-internal-caller": "svc",
  });
});

test("connects with a key and returns the executor's key and the authorization", async () => {
  await using it = await registry([200, { ...CONNECTED, later: "ignored" }]);
  const bundle = await it.client.connect(publicKey, NEVER);
  expect(bundle.executorKey.mlkemBytes.equals(publicKey.mlkemBytes)).toBe(true);
  expect(bundle).toMatchObject({ registrationId: "reg", authorization: "auth" });
  expect(it.received[0]?.body).toEqual({ harness_public_key: KEY });
});

test("refuses an authorization that is too long for a handshake", async () => {
  await using it = await registry([200, { ...CONNECTED, harness_key_authorization: "x".repeat(4097) }]);
  await expect(it.client.connect(publicKey, NEVER)).rejects.toMatchObject({ code: "protocol_violation" });
});

test.each([
  [{ valid: true }, { isValid: true, claim: undefined }],
  [{ valid: false }, { isValid: false, claim: undefined }],
  [
    { valid: true, claim: { sub: "s", epoch: 2 } },
    { isValid: true, claim: { subject: "s", epoch: 2 } },
  ],
])("a harness key is valid if the registry says so: %j", async (answer, expected) => {
  await using it = await registry([200, answer]);
  const claim = { registrationId: "reg", harnessKey: publicKey, authorization: "a", streamId: "s-1" };
  expect(await it.client.validate(claim, NEVER)).toEqual(expected);
  expect(it.received[0]?.headers["x-codex-noise-stream-id"]).toBe("s-1");
});

test.each([
  {},
  { valid: "true" },
  { valid: 1 },
  { valid: true, claim: { sub: "s" } },
  { valid: true, claim: { sub: "s", epoch: -1 } },
  { valid: true, claim: { sub: "s", epoch: 2 ** 53 } },
])("%j does not make a key valid", async (answer) => {
  await using it = await registry([200, answer]);
  const claim = { registrationId: "reg", harnessKey: publicKey, authorization: "a", streamId: "s" };
  await expect(it.client.validate(claim, NEVER)).rejects.toMatchObject({ code: "protocol_violation" });
});

test("the error body of a validation is not included in the error", async () => {
  await using it = await registry([400, { error: { code: "bad", message: "authorization hidden-secret" } }]);
  const claim = { registrationId: "reg", harnessKey: publicKey, authorization: "a", streamId: "s" };
  const error = await it.client.validate(claim, NEVER).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "refused" });
  expect(String(error)).not.toMatch(/hidden|bad/);
});

test("registers for the direct transport", async () => {
  const answer = {
    environment_id: "env 1",
    url: "ws://127.0.0.1:1/d",
    transport: "direct_jsonrpc_v1",
    registration_id: "d",
  };
  await using it = await registry([200, answer]);
  expect(await it.client.registerDirect(NEVER)).toEqual({ url: answer.url, registrationId: "d" });
  expect(it.received[0]?.body).toEqual({ transport: "direct_jsonrpc_v1" });
});

test.each([
  [401, {}, "unauthorized"],
  [403, "not JSON", "unauthorized"],
  [409, { error: { code: "environment_offline", message: "no executor" } }, "environment_offline"],
  [409, { error: { code: "other", message: "conflict" } }, "refused"],
  [408, {}, "connect_failed"],
  [429, {}, "connect_failed"],
  [503, { error: { code: "busy" } }, "connect_failed"],
  [404, { error: { code: "unknown_environment", message: "no such\u001b[31m thing" } }, "refused"],
])("status %i with %j is the error %s", async (status, body, code) => {
  await using it = await registry([status, body]);
  const error = await it.client.connect(publicKey, NEVER).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code });
  expect(String(error)).not.toContain("\u001b");
  expect(String(error)).not.toContain("hidden-token");
});

test("a redirect is not followed, so the credential is only sent to this registry", async () => {
  await using target = await registry([200, CONNECTED]);
  await using it = await registry([307, "", { location: "http://127.0.0.1:1/elsewhere" }]);
  await expect(it.client.connect(publicKey, NEVER)).rejects.toMatchObject({ code: "refused" });
  expect(target.received).toEqual([]);
});

test.each([
  ["another environment", { ...CONNECTED, environment_id: "other" }],
  ["another profile", { ...CONNECTED, security_profile: "none" }],
  ["no registration", { ...CONNECTED, executor_registration_id: "" }],
  ["no authorization", { ...CONNECTED, harness_key_authorization: "" }],
  ["no URL", { ...CONNECTED, url: "" }],
  ["a rendezvous in clear on another machine", { ...CONNECTED, url: "ws://192.0.2.1/r" }],
  ["a URL of another protocol", { ...CONNECTED, url: "http://127.0.0.1/r" }],
  ["a short key", { ...CONNECTED, executor_public_key: { ...KEY, x25519_public_key: "AAAA" } }],
  ["a key with more members", { ...CONNECTED, executor_public_key: { ...KEY, more: 1 } }],
  ["no JSON", "<html>"],
])("an answer with %s is refused", async (_what, body) => {
  await using it = await registry([200, body]);
  await expect(it.client.connect(publicKey, NEVER)).rejects.toMatchObject({ code: "protocol_violation" });
});

test("rejects an answer without an end", async () => {
  await using it = await registry([200, "x".repeat(100_000)]);
  await expect(it.client.connect(publicKey, NEVER)).rejects.toMatchObject({ code: "limit" });
});

test("an unreachable registry and an aborted call have separate codes", async () => {
  await using it = await registry([200, CONNECTED]);
  await expect(it.client.connect(publicKey, AbortSignal.abort())).rejects.toMatchObject({ code: "aborted" });
  const nowhere = new RegistryClient({
    url: new URL("http://127.0.0.1:1"),
    environmentId: "e",
    credential: bearerToken("t"),
  });
  await expect(nowhere.connect(publicKey, NEVER)).rejects.toMatchObject({ code: "connect_failed" });
});
