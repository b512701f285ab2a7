// A command that has the network can reach the server that runs it.
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { sandboxFixture } from "./sandbox-fixture.ts";
import { OUR_BIN, startProgram } from "./servers.ts";
import { ExecClient, type SandboxContext } from "../src/client/index.ts";
import { ExecServer } from "../src/index.ts";

const TOKEN = "0123456789abcdef0123456789abcdef";

function withNetwork(context: SandboxContext): SandboxContext {
  const { permissions } = context;
  if (permissions.type !== "managed") throw new TypeError("only managed permissions restrict the network");
  return { ...context, permissions: { ...permissions, network: "enabled" } };
}

test("a server without authentication refuses to sandbox a command with the network", async () => {
  await using it = await sandboxFixture();
  const sandbox = withNetwork(it.workspaceWrite());
  const argv: [string] = ["true"];
  await expect(it.client.start({ argv, cwd: "/", sandbox })).rejects.toMatchObject({ rpcCode: -32602 });
  await expect(it.client.start({ argv, cwd: "/", sandbox })).rejects.toThrow("--allow-network-without-auth");
  // File operations have no network, and a command without a sandbox could do anything anyway.
  await it.client.files.write(it.at("ws/file"), "x", { sandbox });
  const open: SandboxContext = { permissions: { type: "disabled" }, windowsSandboxLevel: "disabled" };
  expect((await it.run("echo ran", open)).output).toBe("ran\n");
});

test("a server with authentication runs it, and keeps it out without the token", async () => {
  await using it = await sandboxFixture();
  const tokenSha256 = createHash("sha256").update(TOKEN).digest("hex");
  await using server = await ExecServer.start({ auth: { mode: "capability-token", tokenSha256 } });
  await using client = await ExecClient.connect(server.url ?? "", { token: TOKEN });
  const port = new URL(server.url ?? "").port;
  const request = `GET / HTTP/1.1\\r\\nHost: 127.0.0.1:${port}\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\nSec-WebSocket-Version: 13\\r\\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\\r\\n\\r\\n`;
  const started = await client.start({
    argv: ["/bin/bash", "-c", `exec 3<>/dev/tcp/127.0.0.1/${port}; printf '${request}' >&3; head -n 1 <&3`],
    cwd: it.at("ws"),
    sandbox: withNetwork(it.workspaceWrite()),
  });
  expect(String((await started.collect()).stdout)).toContain(" 401 ");
});

test("a server that was started with --allow-network-without-auth runs it", async () => {
  await using it = await sandboxFixture();
  await using program = await startProgram("ours", ["--allow-network-without-auth"]);
  await using client = await ExecClient.connect(program.url);
  const started = await client.start({ argv: ["true"], cwd: "/", sandbox: withNetwork(it.workspaceWrite()) });
  expect((await started.collect()).exitCode).toBe(0);
});

test("a server on stdio runs it", async () => {
  await using it = await sandboxFixture();
  await using client = await ExecClient.launch({
    command: process.execPath,
    args: [...OUR_BIN, "--listen", "stdio"],
  });
  const started = await client.start({ argv: ["true"], cwd: "/", sandbox: withNetwork(it.workspaceWrite()) });
  expect((await started.collect()).exitCode).toBe(0);
});

describe.each(["ours", "codex"] as const)("on %s", (kind) => {
  test("a command with the network is under a filter too", async () => {
    await using it = await sandboxFixture(kind, { allowNetworkWithoutAuth: true });
    const { output } = await it.run(
      "grep -E '^(Seccomp|NoNewPrivs):' /proc/self/status; touch ../out || echo refused",
      withNetwork(it.workspaceWrite()),
    );
    expect(output).toMatch(/NoNewPrivs:\s+1\nSeccomp:\s+2\n/);
    expect(output).toContain("refused");
  });
});
