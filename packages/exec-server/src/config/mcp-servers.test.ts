// The real `codex app-server` reads the configuration of the machine that is its hands.
import { say } from "@codexkit/scripted-model";
import { startAppServer, tempFolder } from "@codexkit/testing";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProgram } from "../../test/servers.ts";

/** A turn with the real codex takes seconds on a busy machine. */
const TURN_MS = 60_000;

test("Codex finds the MCP servers of our machine, and a turn ends well", { timeout: TURN_MS }, async () => {
  await using stack = new AsyncDisposableStack();
  const calls: (string | undefined)[] = [];
  const http = createServer(({ url }, response) => {
    calls.push(url);
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
  const config = `[mcp_servers.ours]\nurl = "http://127.0.0.1:${port}/mcp"\n`;
  await writeFile(join(home.path, "config.toml"), config);

  const server = stack.use(await startProgram("ours", [], { CODEX_HOME: home.path }));
  const env = { CODEX_EXEC_SERVER_URL: server.url };
  const app = stack.use(await startAppServer({ model: [[say("done")]], env }));
  const peer = await app.connect();
  const ended = Promise.withResolvers<string>();
  peer.on("turn/completed", ({ turn }) => ended.resolve(turn.status));
  const { thread } = await peer.request("thread/start", { cwd: app.workspace });
  const input = [{ type: "text", text: "go", text_elements: [] }];
  await peer.request("turn/start", { threadId: thread.id, input } as never);
  expect(await ended.promise).toBe("completed");
  await expect.poll(() => calls, { timeout: 20_000 }).toContain("/mcp");
});
