// The HTTP API over a real socket.
import { execFileSync } from "node:child_process";
import { request as requestHttps } from "node:https";
import { connect } from "node:net";
import { once } from "node:events";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { findFreePort, tempFolder } from "@codexkit/testing";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { authorize, post, randomKey, RawSocket, register } from "../../../test/raw-ends.ts";
import {
  ENVIRONMENT,
  startTestRegistry,
  type TestRegistry,
  waitForExecutor,
} from "../../../test/registry-fixture.ts";
import { startRegistry } from "../index.ts";
import { NodeStore } from "../store/node-store.ts";

const logged: string[] = [];
let registry: TestRegistry;
let executeToken: string;
let connectToken: string;
let adminToken: string;

beforeAll(async () => {
  const logger = pino({ level: "debug" }, { write: (line: string) => void logged.push(line) });
  registry = await startTestRegistry({ logger });
  executeToken = await registry.token("execute");
  connectToken = await registry.token("connect");
  adminToken = (await registry.registry.tokens.create({ name: "admin", scopes: ["admin"] })).token;
});
afterAll(() => registry[Symbol.asyncDispose]());

const path = (call: string, environmentId = ENVIRONMENT): string =>
  `/cloud/environment/${environmentId}/${call}`;
const registerBody = () => ({ security_profile: "noise_hybrid_ik_v1", executor_public_key: randomKey() });

describe("the calls of Codex", () => {
  test("a harness's connection is closed after each call, so that no reused connection can break", async () => {
    for (const token of [connectToken, executeToken, undefined]) {
      const response = await fetch(registry.url + path("connect"), {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
        body: JSON.stringify({ harness_public_key: randomKey() }),
      });
      expect(response.headers.get("connection")).toBe("close");
    }
  });

  test("register, connect and validate", async () => {
    const executorKey = randomKey();
    const registered = await post(registry.url, path("register"), executeToken, {
      security_profile: "noise_hybrid_ik_v1",
      executor_public_key: executorKey,
    });
    expect(registered).toEqual({
      status: 200,
      body: {
        environment_id: ENVIRONMENT,
        url: expect.stringMatching(/^ws:\/\/127\.0\.0\.1:\d+\/rendezvous\/executor\?ticket=ckt_[\w-]{43}$/),
        security_profile: "noise_hybrid_ik_v1",
        executor_registration_id: expect.any(String),
      },
    });
    await using _executor = await RawSocket.open(String(registered.body["url"]));
    await waitForExecutor(registry);
    const harnessKey = randomKey();
    const connected = await post(registry.url, path("connect"), connectToken, {
      harness_public_key: harnessKey,
    });
    expect(connected).toEqual({
      status: 200,
      body: {
        environment_id: ENVIRONMENT,
        url: expect.stringMatching(/^ws:\/\/127\.0\.0\.1:\d+\/rendezvous\/harness\?ticket=ckt_[\w-]{43}$/),
        security_profile: "noise_hybrid_ik_v1",
        executor_registration_id: registered.body["executor_registration_id"],
        executor_public_key: executorKey,
        harness_key_authorization: expect.stringMatching(/^cka_[\w-]{43}$/),
      },
    });
    const validation = {
      executor_registration_id: registered.body["executor_registration_id"],
      harness_public_key: harnessKey,
      harness_key_authorization: connected.body["harness_key_authorization"],
    };
    const stream = { "x-codex-noise-stream-id": "stream-1" };
    const validate = (body: object, headers: Record<string, string> = stream) =>
      post(registry.url, path("validate"), executeToken, body, headers);
    expect(await validate({ ...validation, harness_public_key: randomKey() })).toEqual({
      status: 200,
      body: { valid: false },
    });
    expect((await validate({ ...validation, executor_registration_id: "other" })).body).toEqual({
      valid: false,
    });
    expect(await validate(validation)).toEqual({ status: 200, body: { valid: true } });
    expect((await validate(validation, { "x-codex-noise-stream-id": "stream-2" })).body).toEqual({
      valid: false,
    });
  });

  test("report an environment without an executor", async () => {
    const token = await registry.token("connect", "empty");
    const answer = await post(registry.url, path("connect", "empty"), token, {
      harness_public_key: randomKey(),
    });
    expect(answer).toEqual({
      status: 409,
      body: { error: { code: "environment_offline", message: expect.any(String) } },
    });
  });

  test("refuse the direct transport", async () => {
    const answer = await post(registry.url, path("direct/register"), executeToken, {
      transport: "direct_jsonrpc_v1",
    });
    expect([answer.status, answer.body.error?.code]).toEqual([403, "forbidden"]);
  });
});

describe("a request is refused", () => {
  test("without a valid token, with another scope, or with the token of another environment", async () => {
    const foreign = await registry.token("execute", "other");
    const cases: [call: string, token: string | undefined, status: number][] = [
      ["register", undefined, 401],
      ["register", "ckr_wrong", 401],
      ["register", connectToken, 403],
      ["register", foreign, 403],
      ["validate", connectToken, 403],
      ["validate", foreign, 403],
      ["connect", executeToken, 403],
      ["connect", adminToken, 403],
    ];
    for (const [call, token, status] of cases) {
      const answer = await post(registry.url, path(call), token, registerBody());
      expect([call, answer.status]).toEqual([call, status]);
      expect(answer.body.error?.code).toBe(status === 401 ? "unauthorized" : "forbidden");
    }
  });

  test("for a body that is not JSON, or has invalid, missing or unknown members", async () => {
    const key = randomKey();
    const bodies: unknown[] = [
      "",
      "{",
      "[]",
      "null",
      '{"security_profile":"noise_hybrid_ik_v1"}',
      { ...registerBody(), extra: 1 },
      { ...registerBody(), security_profile: "none" },
      { ...registerBody(), executor_public_key: { ...key, extra: 1 } },
      { ...registerBody(), executor_public_key: { ...key, suite: "other" } },
      { ...registerBody(), executor_public_key: { ...key, x25519_public_key: "AA==" } },
      { ...registerBody(), executor_public_key: { ...key, x25519_public_key: `${key.x25519_public_key} ` } },
    ];
    for (const body of bodies) {
      const answer = await post(registry.url, path("register"), executeToken, body);
      expect([answer.status, answer.body.error?.code]).toEqual([400, "invalid_request"]);
    }
    const text = await post(registry.url, path("register"), executeToken, "{}", {
      "content-type": "text/plain",
    });
    expect(text.status).toBe(415);
    const large = await post(registry.url, path("register"), executeToken, "x".repeat(20_000));
    expect([large.status, large.body.error?.code]).toEqual([413, "body_too_large"]);
  });

  test("for an environment ID that could be a path", async () => {
    const ids = ["..%2f..%2fadmin", ".hidden", "a%00b", "a%20b", "x".repeat(129), "a%0d%0ab", "ü"];
    for (const id of ids) {
      const answer = await post(registry.url, path("register", id), executeToken, registerBody());
      expect([id, answer.status]).toEqual([id, 400]);
      expect(answer.body.error?.message).toContain("the environment ID. Expected 1 to 128 letters");
    }
    for (const id of ["../../admin", "%2e%2e"]) {
      expect((await post(registry.url, path("register", id), executeToken, {})).status).toBe(404);
    }
  });

  test("from a web page, at an unknown path, and with another method", async () => {
    const page = await post(registry.url, path("register"), executeToken, registerBody(), {
      origin: "https://page.example",
    });
    expect(page.status).toBe(403);
    expect((await post(registry.url, "/other", executeToken, {})).body.error?.code).toBe("not_found");
    const response = await fetch(registry.url + path("register"));
    expect(response.status).toBe(404);
  });
});

test("health, readiness and metrics", async () => {
  expect(await (await fetch(`${registry.url}/healthz`)).json()).toEqual({ status: "ok" });
  expect(await (await fetch(`${registry.url}/readyz`)).json()).toEqual({ status: "ready" });
  expect((await fetch(`${registry.url}/metrics`)).status).toBe(401);
  const token = await registry.token("metrics");
  const response = await fetch(`${registry.url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  const text = await response.text();
  expect(text).toContain('codexkit_relay_sockets{end="executor"}');
  expect(text).toMatch(/codexkit_relay_refusals_total\{reason="unauthorized"\} \d/);
});

describe("administration", () => {
  const call = async (method: string, target: string, token: string, body?: unknown) => {
    const response = await fetch(registry.url + target, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      body: text === "" ? undefined : (JSON.parse(text) as Record<string, unknown>),
    };
  };

  test("creates, lists and revokes tokens, and lists environments", async () => {
    const created = await call("POST", "/admin/tokens", adminToken, {
      name: "box",
      scopes: ["execute"],
      environmentId: "box",
      validForMs: 60_000,
    });
    expect(created.status).toBe(201);
    const { token, info } = created.body as { token: string; info: { id: string } };
    expect((await post(registry.url, path("register", "box"), token, registerBody())).status).toBe(200);
    const listed = await call("GET", "/admin/tokens", adminToken);
    expect(JSON.stringify(listed.body)).toContain(info.id);
    expect(JSON.stringify(listed.body)).not.toMatch(/ckr_|hash/);
    const environments = await call("GET", "/admin/environments", adminToken);
    expect(JSON.stringify(environments.body)).toContain('"environmentId":"box","online":0');
    expect((await call("DELETE", `/admin/tokens/${info.id}`, adminToken)).status).toBe(204);
    expect((await call("DELETE", `/admin/tokens/${info.id}`, adminToken)).status).toBe(404);
    expect((await call("DELETE", "/admin/tokens/x", adminToken)).status).toBe(400);
    expect((await post(registry.url, path("register", "box"), token, registerBody())).status).toBe(401);
  });

  test("with a token of one environment does not include other environments", async () => {
    const limited = await registry.token("admin", "mine");
    const tokens = await registry.registry.tokens.list();
    const other = tokens.find(({ environmentId }) => environmentId === ENVIRONMENT);
    const create = (environmentId: string | null) =>
      call("POST", "/admin/tokens", limited, { name: "x", scopes: ["connect"], environmentId });
    expect((await create("mine")).status).toBe(201);
    expect((await create(ENVIRONMENT)).status).toBe(403);
    expect((await create(null)).status).toBe(403);
    expect((await call("DELETE", `/admin/tokens/${other?.id}`, limited)).status).toBe(404);
    const listed = await call("GET", "/admin/tokens", limited);
    expect(JSON.stringify(listed.body)).not.toContain(`"${ENVIRONMENT}"`);
    const environments = await call("GET", "/admin/environments", limited);
    expect(environments.body).toEqual({ environments: [] });
  });

  test("requires the scope admin", async () => {
    for (const [method, target] of [
      ["GET", "/admin/tokens"],
      ["POST", "/admin/tokens"],
      ["DELETE", "/admin/tokens/x"],
      ["GET", "/admin/environments"],
    ] as const) {
      expect((await call(method, target, connectToken, method === "POST" ? {} : undefined)).status).toBe(403);
    }
  });
});

test("neither the log nor the audit log contains secrets", async () => {
  const registered = await register(registry.url, executeToken);
  await using _executor = await RawSocket.open(registered.url);
  await waitForExecutor(registry);
  const { url, authorization } = await authorize(registry.url, connectToken);
  await using _harness = await RawSocket.open(url);
  await RawSocket.open(url).catch(() => {});
  await post(registry.url, path("validate"), executeToken, { harness_key_authorization: authorization });
  await post(registry.url, path("register"), executeToken, `{"token":"${executeToken}"`);
  const text = [...logged, ...registry.audit].join("");
  expect(text).toContain("request.refused");
  expect(text).not.toMatch(/ck[rta]_/);
  expect(text).not.toContain("x25519");
});

test("a request that does not arrive in time is closed", async () => {
  await using slow = await startTestRegistry({ limits: { headersMs: 200 } });
  const socket = connect(Number(new URL(slow.url).port), "127.0.0.1");
  socket.on("error", () => {});
  socket.write("POST /cloud/environment/x/register HTTP/1.1\r\nHost: x\r\n");
  socket.resume();
  await once(socket, "close");
});

test("the connection of a refused upgrade is closed, also if the client keeps its side open", async () => {
  const socket = connect({
    port: Number(new URL(registry.url).port),
    host: "127.0.0.1",
    allowHalfOpen: true,
  });
  const key = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
  socket.write(
    `GET /rendezvous/harness HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${key}\r\n\r\n`,
  );
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(String(answer)).toMatch(/^HTTP\/1.1 401 /);
  // The server has closed the connection: further data is answered with a reset.
  const writing = setInterval(() => socket.write("x"), 10);
  await new Promise<void>((resolve) => void socket.on("error", () => {}).on("close", () => resolve()));
  clearInterval(writing);
});

test("clients that reset the connection of a refused upgrade do no harm", async () => {
  const key = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
  const request = `GET /rendezvous/harness?ticket=x HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${key}\r\n\r\n`;
  for (let count = 0; count < 50; count += 1) {
    const socket = connect(Number(new URL(registry.url).port), "127.0.0.1");
    socket.write(request, () => socket.resetAndDestroy());
    await once(socket, "close");
  }
  expect((await fetch(`${registry.url}/healthz`)).status).toBe(200);
});

test("a flood of refused requests does not fill the audit log", async () => {
  await using flooded = await startTestRegistry({ limits: { auditedRefusalsPerMinute: 5 } });
  const secret = `ckr_${"x".repeat(2000)}`;
  for (let request = 0; request < 20; request++) {
    expect((await post(flooded.url, path("register", secret), undefined, {})).status).toBe(400);
  }
  const refusals = flooded.audit.filter((line) => line.includes("request.refused"));
  expect(refusals).toHaveLength(5);
  expect(refusals.join("")).not.toContain("ckr_");
});

test("TLS serves requests and sockets, and closes connections without a handshake", async () => {
  await using folder = await tempFolder("tls");
  const [keyFile, certFile] = [join(folder.path, "key.pem"), join(folder.path, "cert.pem")];
  const args =
    "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost " +
    `-addext subjectAltName=IP:127.0.0.1 -keyout ${keyFile} -out ${certFile}`;
  execFileSync("openssl", args.split(" "), { stdio: "ignore" });
  const tls = { cert: await readFile(certFile, "utf8"), key: await readFile(keyFile, "utf8") };
  await using secure = await startTestRegistry({ tls, limits: { headersMs: 300 } });
  expect(secure.url).toMatch(/^https:/);
  const token = await secure.token("execute");
  const answer = await new Promise<string>((resolve, reject) => {
    const call = requestHttps(
      secure.url + path("register"),
      {
        method: "POST",
        ca: tls.cert,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      },
      (response) => response.setEncoding("utf8").once("data", resolve),
    );
    call.on("error", reject).end(JSON.stringify(registerBody()));
  });
  const { url } = JSON.parse(answer) as { url: string };
  expect(url).toMatch(/^wss:/);
  await using _executor = await RawSocket.open(url, { ca: tls.cert });
  await waitForExecutor(secure);
  const silent = connect(Number(new URL(secure.url).port), "127.0.0.1");
  silent.on("error", () => {}).resume();
  await once(silent, "close");
});

describe("a new store", () => {
  test("has one token, in a file that only its owner can read, and an audit log", async () => {
    await using folder = await tempFolder("registry");
    const options = { store: folder.path, port: 0, logger: "silent" } as const;
    const file = join(folder.path, "admin-token");
    const start = async () => {
      await using started = await startRegistry(options);
      return await started.tokens.list();
    };
    expect(await start()).toMatchObject([{ name: "first", scopes: ["admin"] }]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, "utf8")).toMatch(/^ckr_[\w-]{43}\n$/);
    expect(await start()).toHaveLength(1);
    const audit = join(folder.path, "audit.log");
    expect((await stat(audit)).mode & 0o777).toBe(0o600);
    const lines = (await readFile(audit, "utf8")).trim().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { audit: string }).audit)).toEqual([
      "node.started",
      "node.stopped",
      "node.started",
      "node.stopped",
    ]);
  });

  test("keeps working if the disk of its audit log is full, and reports this once", async () => {
    await using folder = await tempFolder("registry");
    const lines: string[] = [];
    const logger = pino({ level: "warn" }, { write: (line: string) => void lines.push(line) });
    {
      await using started = await startRegistry({
        store: folder.path,
        port: 0,
        logger,
        auditFile: "/dev/full",
      });
      for (let request = 0; request < 3; request++)
        expect((await post(started.url, path("register"), undefined, {})).status).toBe(401);
    }
    expect(lines.filter((line) => line.includes("/dev/full, can't be written (ENOSPC)"))).toHaveLength(1);
  });

  test("writes tokens and their revocations to the disk immediately", async () => {
    await using folder = await tempFolder("registry");
    await using started = await startRegistry({ store: folder.path, port: 0, logger: "silent" });
    const database = async (): Promise<string> =>
      readFile(join(folder.path, "registry.sqlite"), { encoding: "latin1" });
    const { info } = await started.tokens.create({ name: "new", scopes: ["connect"] });
    const created = await database();
    expect(created).toContain(info.id);
    await started.tokens.revoke(info.id);
    expect(await database()).not.toBe(created);
  });

  test("receives its token at the next start if the file could not be written", async () => {
    await using folder = await tempFolder("registry");
    const options = { store: folder.path, port: 0, logger: "silent" } as const;
    const wrong = startRegistry({ ...options, tokenFile: "/dev/null/token" });
    await expect(wrong).rejects.toMatchObject({
      code: "bad_option",
      message: expect.stringContaining("/dev/null/token"),
    });
    await using started = await startRegistry(options);
    expect(await started.tokens.list()).toHaveLength(1);
    expect(await readFile(join(folder.path, "admin-token"), "utf8")).toMatch(/^ckr_/);
  });

  test("registers its node URL before it accepts connections", async () => {
    await using folder = await tempFolder("registry");
    const port = await findFreePort();
    const url = `http://127.0.0.1:${port}`;
    const isListening: boolean[] = [];
    const spy = vi.spyOn(NodeStore.prototype, "register").mockImplementation(async () => {
      const answer = fetch(`${url}/healthz`).then(() => true);
      isListening.push(await answer.catch(() => false));
    });
    onTestFinished(() => spy.mockRestore());
    await using _registry = await startRegistry({
      store: folder.path,
      port,
      nodeUrl: url,
      logger: "silent",
    });
    expect(isListening).toEqual([false]);
  });

  test("rejects with the path of an audit log that can't be opened", async () => {
    await using folder = await tempFolder("registry");
    const wrong = startRegistry({ store: folder.path, port: 0, auditFile: "/dev/null/audit.log" });
    await expect(wrong).rejects.toMatchObject({
      code: "bad_option",
      message: expect.stringContaining("/dev/null/audit.log"),
    });
  });

  test("rejects invalid options", async () => {
    for (const wrong of [
      { host: "0.0.0.0" },
      { publicUrl: "ftp://x" },
      { publicUrl: "https://user@host" },
      { limits: { stallMs: -1 } },
      { limits: { unknown: 1 } },
      { unknown: true },
      { port: 70_000 },
    ]) {
      await expect(startRegistry(wrong as never)).rejects.toMatchObject({ code: "bad_option" });
    }
  });
});
