import { describe, expect, test } from "vitest";
import { createOpenApiDocument } from "../src/api/openapi.ts";
import { type Scope, SCOPES } from "../src/api/route.ts";
import { routes } from "../src/api/routes/index.ts";
import { useDatabases } from "./database-fixture.ts";
import { startTestDaemon, type TestDaemon } from "./test-daemon.ts";

const document = createOpenApiDocument(routes, "0");
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    operation: `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, "some-id")}`,
    scope: operation["x-scope"] as Scope | null,
  })),
);

const databases = useDatabases("sqlite");

describe("tokens", () => {
  const start = async (options: Parameters<typeof startTestDaemon>[1] = {}): Promise<TestDaemon> =>
    startTestDaemon(await databases.open(), options);

  test("every operation refuses tokens without its scope, and accepts tokens with only this scope", async () => {
    await using api = await start({ limits: { failedLoginsPerMinute: 1000 } });
    const tokens = Object.fromEntries(
      await Promise.all(
        SCOPES.map(
          async (scope) =>
            [
              scope,
              {
                only: await api.createToken([scope]),
                without: await api.createToken(SCOPES.filter((other) => other !== scope)),
              },
            ] as const,
        ),
      ),
    );
    const call = async (operation: string, authorization: string): Promise<number> => {
      const response = await api.request(operation, {
        headers: { authorization, accept: "application/json" },
      });
      await response.body?.cancel();
      return response.status;
    };
    expect(operations.length).toBeGreaterThan(40);
    for (const { operation } of operations.filter(({ scope }) => scope === null)) {
      expect.soft([401, 403], operation).not.toContain(await call(operation, ""));
    }
    for (const { operation, scope } of operations) {
      if (scope === null) continue;
      expect.soft(await call(operation, `Bearer ${tokens[scope]?.without}`), operation).toBe(403);
      expect.soft(await call(operation, "Bearer wrong"), operation).toBe(401);
      expect.soft(await call(operation, ""), operation).toBe(401);
      expect
        .soft([401, 403], operation)
        .not.toContain(await call(operation, `Bearer ${tokens[scope]?.only}`));
    }
  });

  test("are created, listed without their secret, and revoked by an administrator", async () => {
    await using api = await start();
    const created = await api.request("POST /tokens", { json: { name: "ci", scopes: ["read"] } });
    expect(created.status).toBe(201);
    const { token, info } = (await created.json()) as { token: string; info: { id: string } };
    const headers = { authorization: `Bearer ${token}` };
    const whoami = await api.request("GET /whoami", { headers });
    expect(await whoami.json()).toEqual({ id: info.id, name: "ci", scopes: ["read"], tenant: "default" });
    expect(await (await api.request("GET /tokens")).text()).not.toContain(token);
    expect((await api.request(`DELETE /tokens/${info.id}`)).status).toBe(204);
    expect((await api.request("GET /whoami", { headers })).status).toBe(401);
    const audit = (await (await api.request("GET /audit")).json()) as { data: { subject: string | null }[] };
    expect(audit.data.filter(({ subject }) => subject === info.id)).toHaveLength(2);
  });

  test("have their streams ended when they are revoked", async () => {
    await using api = await start();
    const created = await api.request("POST /tokens", { json: { name: "ci", scopes: ["read"] } });
    const { token, info } = (await created.json()) as { token: string; info: { id: string } };
    const { session } = (await (await api.request("POST /sessions", { json: { cwd: api.root } })).json()) as {
      session: { id: string };
    };
    const headers = { authorization: `Bearer ${token}`, accept: "text/event-stream" };
    const streams = await Promise.all(
      ["/events", `/sessions/${session.id}/events`, `/sessions/${session.id}/files/changes`].map((path) =>
        api.request(`GET ${path}`, { headers }),
      ),
    );
    expect(streams.map(({ status }) => status)).toEqual([200, 200, 200]);
    const texts = streams.map((stream) => stream.text());
    expect((await api.request(`DELETE /tokens/${info.id}`)).status).toBe(204);
    expect(await Promise.all(texts)).toHaveLength(3);
  });

  test("expire", async () => {
    await using api = await start();
    const { token } = await api.daemon.tokens.create({
      name: "old",
      scopes: ["read"],
      expiresAt: 1,
      by: "test",
    });
    const response = await api.request("GET /whoami", { headers: { authorization: `Bearer ${token}` } });
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
  });

  test("guesses are limited per address", async () => {
    await using api = await start({ limits: { failedLoginsPerMinute: 3 } });
    const guess = async (): Promise<number> =>
      (await api.request("GET /whoami", { headers: { authorization: "Bearer wrong" } })).status;
    expect([await guess(), await guess(), await guess(), await guess()]).toEqual([401, 401, 401, 429]);
  });

  test("guesses don't lock out the owner of a valid token at the same address", async () => {
    await using api = await start({ limits: { failedLoginsPerMinute: 1 } });
    const headers = { authorization: "Bearer wrong" };
    expect((await api.request("GET /whoami", { headers })).status).toBe(401);
    expect((await api.request("GET /whoami", { headers })).status).toBe(429);
    expect((await api.request("POST /login", { json: { token: "wrong" }, headers })).status).toBe(429);
    expect((await api.request("GET /whoami")).status).toBe(200);
    expect((await api.request("POST /login", { json: { token: api.token }, headers })).status).toBe(200);
  });

  test("make login codes that one browser can use once, with their scopes or fewer", async () => {
    await using api = await start();
    const anonymous = { authorization: "" };
    const create = async (json: object, headers = {}) => api.request("POST /login-codes", { json, headers });
    const response = await create({ scopes: ["read", "approve"] });
    expect(response.status).toBe(201);
    const { code, scopes } = (await response.json()) as { code: string; scopes: string[] };
    expect(scopes).toEqual(["read", "approve"]);
    const login = async () =>
      api.request("POST /login", { json: { code, device: "phone" }, headers: anonymous });
    const first = await login();
    expect(await first.json()).toMatchObject({ name: "read+write+approve+admin (phone)", scopes });
    expect((await login()).status).toBe(401);
    const cookie = (first.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const as = async (operation: string, json?: object): Promise<number> => {
      const [method = "", path = ""] = operation.split(" ");
      const type = { "content-type": "application/json" };
      const request = new Request(`http://localhost${path}`, {
        method,
        headers: { host: "localhost", cookie, ...(json && type) },
        ...(json && { body: JSON.stringify(json) }),
      });
      return (await api.daemon.fetch(request)).status;
    };
    expect(await as("GET /whoami")).toBe(200);
    expect(await as("GET /tokens")).toBe(403);
    // A logged-in browser can pair another one, but can't grant it more scopes than its own.
    expect(await as("POST /login-codes", {})).toBe(201);
    expect(await as("POST /login-codes", { scopes: ["admin"] })).toBe(403);
    expect((await create({}, anonymous)).status).toBe(401);
    expect((await create({ expiresInMs: 10 ** 9 })).status).toBe(400);
    expect(await as("POST /logout")).toBe(204);
    expect(await as("GET /whoami")).toBe(401);
    expect(api.logs.join("\n")).not.toContain(code);
  });

  test("are limited in the number of guessed login codes", async () => {
    await using api = await start({ limits: { failedLoginsPerMinute: 2 } });
    const guess = async () =>
      (await api.request("POST /login", { json: { code: "ckl_wrong" }, headers: { authorization: "" } }))
        .status;
    expect([await guess(), await guess(), await guess()]).toEqual([401, 401, 429]);
  });

  test("and login codes are not needed without authentication", async () => {
    await using api = await start({ auth: "none" });
    expect((await api.request("POST /login-codes", { json: {} })).status).toBe(422);
  });

  test("are exchanged for a cookie that scripts and other sites can't use", async () => {
    await using api = await start();
    const anonymous = { authorization: "" };
    const wrong = await api.request("POST /login", { json: { token: "wrong" }, headers: anonymous });
    expect(wrong.status).toBe(401);
    const login = await api.request("POST /login", { json: { token: api.token }, headers: anonymous });
    expect(login.status).toBe(200);
    const cookie = login.headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/HttpOnly/);
    expect(cookie).toMatch(/SameSite=Strict/);
    expect(cookie).not.toMatch(/Secure/);
    const pair = cookie.split(";")[0] ?? "";
    const withCookie = async (headers: Record<string, string>): Promise<number> => {
      const request = new Request("http://localhost/whoami", {
        headers: { host: "localhost", cookie: pair, ...headers },
      });
      return (await api.daemon.fetch(request)).status;
    };
    expect(await withCookie({})).toBe(200);
    expect(await withCookie({ origin: "http://localhost", "sec-fetch-site": "same-origin" })).toBe(200);
    expect(await withCookie({ origin: "http://evil.example" })).toBe(403);
    expect(await withCookie({ "sec-fetch-site": "cross-site" })).toBe(403);
    expect(await withCookie({ host: "evil.example" })).toBe(403);
    const logout = await api.request("POST /logout", { headers: anonymous });
    expect(logout.status).toBe(204);
    expect(logout.headers.get("set-cookie")).toMatch(/Max-Age=0/);
  });

  test("are not needed on loopback if the daemon says so, and always on other addresses", async () => {
    await using api = await start({ auth: "none" });
    const response = await api.request("GET /whoami", { headers: { authorization: "" } });
    expect(await response.json()).toMatchObject({ id: "local", scopes: [...SCOPES] });
    await expect(api.daemon.listen({ host: "0.0.0.0" })).rejects.toMatchObject({ code: "bad_options" });
    expect(await api.daemon.listen()).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });
});

test("requests with other hosts and origins are refused, without revealing which paths and methods exist", async () => {
  await using api = await startTestDaemon(await databases.open(), {
    origins: { allowedHosts: [], allowedOrigins: ["https://console.example"] },
  });
  for (const headers of [{ host: "evil.example" }, { origin: "https://evil.example" }]) {
    for (const operation of ["GET /health", "GET /login", "GET /nothing", "OPTIONS /sessions"]) {
      expect.soft((await api.request(operation, { headers })).status, operation).toBe(403);
    }
  }
  const preflight = await api.request("OPTIONS /sessions", {
    headers: { origin: "https://console.example" },
  });
  expect(preflight.status).toBe(204);
});

test("pages of allowed origins get CORS headers", async () => {
  await using api = await startTestDaemon(await databases.open(), {
    origins: { allowedHosts: [], allowedOrigins: ["https://console.example"] },
  });
  const response = await api.request("GET /whoami", { headers: { origin: "https://console.example" } });
  expect(response.status).toBe(200);
  expect(response.headers.get("access-control-allow-origin")).toBe("https://console.example");
});
