// The real `codex app-server` reads the configuration of the machine that is its hands.
import { say } from "@codexkit/scripted-model";
import { startAppServer, startTurn, tempFolder } from "@codexkit/testing";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProgram } from "./servers.ts";

/** A turn with the real codex takes seconds on a busy machine. */
const TURN_MS = 60_000;

/** Runs a turn whose MCP server is configured on the exec-server's machine; gives the requests that it received. */
async function requestsToMcpServer(settings: string, env: Record<string, string> = {}) {
  await using stack = new AsyncDisposableStack();
  const requests: { path: string | undefined; authorization: string | undefined }[] = [];
  const http = createServer(({ url, headers }, response) => {
    requests.push({ path: url, authorization: headers.authorization });
    response.writeHead(500).end();
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  stack.defer(() => {
    http.close();
    http.closeAllConnections();
  });
  const { port } = http.address() as AddressInfo;
  const home = stack.use(await tempFolder("config-mcp"));
  const config = `[mcp_servers.ours]\nurl = "http://127.0.0.1:${port}/mcp"\n${settings}`;
  await writeFile(join(home.path, "config.toml"), config);

  const server = stack.use(await startProgram("ours", [], { CODEX_HOME: home.path, ...env }));
  const app = stack.use(
    await startAppServer({ model: [[say("done")]], env: { CODEX_EXEC_SERVER_URL: server.url } }),
  );
  const peer = await app.connect();
  const { ended } = await startTurn(peer, { cwd: app.workspace });
  expect(await ended).toBe("completed");
  await expect.poll(() => requests.length, { timeout: 20_000 }).toBeGreaterThan(0);
  return requests;
}

test("Codex finds the MCP servers of our machine, and a turn ends well", { timeout: TURN_MS }, async () => {
  expect((await requestsToMcpServer(""))[0]?.path).toBe("/mcp");
});

test("an MCP server gets its bearer token from a variable of our machine", { timeout: TURN_MS }, async () => {
  const requests = await requestsToMcpServer('bearer_token_env_var = "MCP_TOKEN"\n', { MCP_TOKEN: "secret" });
  expect(requests[0]).toEqual({ path: "/mcp", authorization: "Bearer secret" });
});
