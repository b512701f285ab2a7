import { Hono } from "hono";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { expect, test } from "vitest";
import { DaemonClient } from "../src/client/client.ts";
import { useDatabases } from "./database-fixture.ts";
import { startTestDaemon } from "./test-daemon.ts";

const databases = useDatabases("sqlite");

test("works below a path of another hono app", async () => {
  await using api = await startTestDaemon(await databases.open());
  const app = new Hono();
  app.get("/", (context) => context.text("mine"));
  app.route("/codex", api.daemon.app);
  const headers = { host: "localhost", authorization: `Bearer ${api.token}` };
  const whoami = await app.request("http://localhost/codex/whoami", { headers });
  expect(await whoami.json()).toMatchObject({ name: "read+write+approve+admin" });
  expect(await (await app.request("http://localhost/", { headers })).text()).toBe("mine");
  const missing = await app.request("http://localhost/codex/nothing", { headers });
  expect(missing.status).toBe(404);
});

test("handles requests without a server, and uses the host of their URL", async () => {
  const origins = { allowedHosts: ["codex.example"], allowedOrigins: [] };
  await using api = await startTestDaemon(await databases.open(), { origins });
  const { fetch } = api.daemon;
  const client = new DaemonClient({
    url: "http://codex.example",
    token: api.token,
    fetch: async (url, init) => fetch(new Request(url, init)),
  });
  expect(await client.request("GET /whoami")).toMatchObject({ name: "read+write+approve+admin" });
  expect((await fetch(new Request("http://localhost/health"))).status).toBe(200);
  expect((await fetch(new Request("http://evil.example/health"))).status).toBe(403);
});

test("works in a Node server, including streams, without listening itself", async () => {
  await using api = await startTestDaemon(await databases.open());
  const server = createServer(api.daemon.handler).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = new DaemonClient({ url: `http://127.0.0.1:${port}`, token: api.token });
  const { session } = await client.createSession({ cwd: api.root }, { wait: 10_000 });
  const events = client.sessionEvents(session.id);
  expect((await events.next()).value).toMatchObject({ type: "session.created" });
  await events.return(undefined);
  expect(api.daemon.url).toBeUndefined();
  server.close();
  server.closeAllConnections();
});

test("a stream ends when its client disconnects, and when the daemon closes", async () => {
  const api = await startTestDaemon(await databases.open());
  const client = await api.listen();
  const { session } = await client.createSession({ cwd: api.root }, { wait: 10_000 });
  const streams = async () => (await client.request("GET /diagnostics", {})).streams;
  const gone = client.sessionEvents(session.id);
  await gone.next();
  expect(await streams()).toEqual({ sessions: 1, multiplexed: 0, files: 0, threads: 0 });
  await gone.return(undefined);
  while ((await streams()).sessions > 0);

  const disconnected = Promise.withResolvers<void>();
  const open = client.events({ onDisconnect: () => disconnected.resolve() })[Symbol.asyncIterator]();
  await open.next();
  const next = open.next();
  await api[Symbol.asyncDispose]();
  await disconnected.promise;
  void next.catch(() => undefined);
  void open.return(undefined);
});

test("the client imports no Node module and no schema", async () => {
  const { code, imports } = await bundleClient("*");
  expect(imports).toEqual([]);
  expect(code).not.toMatch(/\bnode:|require\(|\bprocess\b|\bBuffer\b/);
  expect(code.length).toBeLessThan(24_000);
});

test("a page that only calls the daemon does not load what displays need", async () => {
  const { code } = await bundleClient("{ DaemonClient }");
  expect(code).not.toContain("This is not a number.");
  expect(code.length).toBeLessThan(16_500);
});

/** Bundles the named exports of the client for browsers. */
async function bundleClient(names: string): Promise<{ code: string; imports: readonly string[] }> {
  const client = join(import.meta.dirname, "../src/client/index.ts");
  const bundle = await rolldown({
    input: "page",
    platform: "browser",
    external: /^node:/,
    plugins: [
      {
        name: "page",
        resolveId: (id) => (id === "page" ? id : null),
        load: (id) => (id === "page" ? `export ${names} from ${JSON.stringify(client)};` : null),
      },
    ],
  });
  const { output } = await bundle.generate({ format: "esm", minify: true });
  expect(output).toHaveLength(1);
  return output[0];
}
