import { run, say, type Script } from "@codexkit/scripted-model";
import { STORE_KINDS } from "@codexkit/store/testing";
import { findCodex } from "@codexkit/testing";
import { appendFile, chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { DaemonClient } from "../src/client/client.ts";
import { useDatabases } from "./database-fixture.ts";
import { createDaemonHome } from "./start-daemon.ts";

/** The secrets that must not be in a bundle. */
const PLANTED = {
  mcpVariable: "planted-mcp-variable",
  mcpArgument: "planted-mcp-argument",
  mcpHeader: "planted-mcp-header",
  toolSecret: `whsec_${Buffer.from("planted-tool-secret-which-is-long").toString("base64")}`,
  variable: "planted-variable-value",
  apiKey: "sk-planted-api-key-0123456789",
  fileVariable: "planted-file-variable",
  fileArgument: "planted-file-argument",
  fileToken: "planted-file-token",
  overridden: "planted-overridden-header",
  printed: "sk-planted-in-stderr-0123456789",
};

const script: Script = ({ newOutputs }) =>
  newOutputs.length === 0
    ? run(
        `echo "${PLANTED.variable} ${PLANTED.apiKey} ${PLANTED.mcpHeader} for http://127.0.0.1:1/?key=planted-query"`,
      )
    : say([`It is ${PLANTED.variable.slice(0, 12)}`, PLANTED.variable.slice(12)]);

async function runTurn(client: DaemonClient, sessionId: string): Promise<void> {
  await client.send(sessionId, "go", { wait: 20_000, idempotencyKey: "go" });
  const signal = AbortSignal.timeout(25_000);
  for await (const event of client.sessionEvents(sessionId, { signal })) {
    if (event.type === "turn.completed") return;
  }
}

describe.each(STORE_KINDS)("the debug bundle of a session on %s", (kind) => {
  const databases = useDatabases(kind);

  test("explains the session's state without secrets, also after crashes of codex and the daemon", async () => {
    await using home = await createDaemonHome(script, { kind, locations: databases.locations });
    const wrapper = join(home.folders.root, "codex-that-prints");
    const program = `#!/bin/sh\necho "starting with ${PLANTED.printed}" >&2\nexec "${findCodex().path}" "$@"\n`;
    await writeFile(wrapper, program);
    await chmod(wrapper, 0o755);
    await appendFile(
      join(home.stateFolder, "codex", "config.toml"),
      `
[mcp_servers.planted]
enabled = false
command = "true"
args = ["--password", "${PLANTED.fileArgument}"]
env = { NAME = "${PLANTED.fileVariable}" }
[mcp_servers.other]
enabled = false
url = "http://127.0.0.1:1/?key=planted-query"
[model_providers.planted]
name = "planted"
base_url = "http://127.0.0.1:1/"
experimental_bearer_token = "${PLANTED.fileToken}"
`,
    );
    const options = {
      apiKey: PLANTED.apiKey,
      limits: { http: { streams: 77 } },
      codex: {
        config: {
          mcp_servers: {
            third: {
              enabled: false,
              url: "http://127.0.0.1:1/",
              http_headers: { "x-name": PLANTED.overridden },
            },
          },
          hide_agent_reasoning: true,
        },
        configOverrides: ['model_verbosity="low"'],
        inheritEnv: false,
        env: { ...home.folders.env, DEPLOY_TOKEN: PLANTED.variable },
        codexPath: wrapper,
      },
    };
    let sessionId: string;
    let pid: number;
    const read = async (client: DaemonClient) =>
      client.request("GET /sessions/{sessionId}/debug", { params: { sessionId } });
    {
      await using started = await home.start(options);
      const { client } = started;
      const created = await client.createSession(
        {
          cwd: home.folders.workspace,
          mcpServers: {
            local: {
              command: "true",
              args: ["--api-key", PLANTED.mcpArgument],
              env: { KEY: PLANTED.mcpVariable },
            },
            remote: {
              url: "http://127.0.0.1:1/?key=planted-query",
              headers: { authorization: PLANTED.mcpHeader },
            },
          },
          tools: [
            {
              name: "weather",
              description: "Tells the weather",
              inputSchema: { type: "object", properties: {} },
              url: "https://example.com/weather",
              secret: PLANTED.toolSecret,
            },
          ],
        },
        { wait: 20_000 },
      );
      sessionId = created.session.id;
      await runTurn(client, sessionId);
      const { events } = await client.request("GET /sessions/{sessionId}/events", { params: { sessionId } });
      const texts = JSON.stringify(events);
      expect(texts).toContain("for http://127.0.0.1:1/******************");
      expect(texts).not.toContain("planted-query");
      expect(texts).not.toContain(PLANTED.mcpHeader);
      const bundle = await read(client);
      expect(bundle).toMatchObject({
        session: { id: sessionId, phase: "idle" },
        setup: {
          mcpServers: {
            local: { command: "true", args: ["--api-key", "[redacted]"], env: { KEY: "[redacted]" } },
            remote: { url: "http://127.0.0.1:1/", headers: { authorization: "[redacted]" } },
          },
          tools: [{ name: "weather", url: "https://example.com/weather", hasSecret: true }],
        },
        configuration: {
          file: {
            mcp_servers: {
              planted: { command: "true", args: ["--password", "[redacted]"], env: { NAME: "[redacted]" } },
              other: { url: "http://127.0.0.1:1/" },
            },
            model_providers: { planted: { experimental_bearer_token: "[redacted]" } },
          },
          codex: {
            codexPath: wrapper,
            config: {
              mcp_servers: { third: { http_headers: { "x-name": "[redacted]" } } },
              hide_agent_reasoning: true,
            },
            configOverrides: [{ model_verbosity: "low" }],
          },
          roots: [home.folders.workspace],
          limits: { http: { streams: 77 } },
        },
        versions: { node: process.version, codexOfSession: expect.stringMatching(/^0\./) as string },
        daemon: { runner: "running", store: { kind }, nodes: [{ name: "here", isAlive: true }] },
      });
      expect(bundle.commands.map((command) => [command["kind"], command["state"], command["key"]])).toEqual([
        ["create", "done", expect.any(String)],
        ["message", "done", "go"],
      ]);
      expect(bundle.events.at(-1)).toMatchObject({ type: "turn.completed" });
      expect(bundle.environment).toMatchObject({
        DEPLOY_TOKEN: "[redacted]",
        TMPDIR: expect.any(String) as string,
      });
      expect(bundle.codex.stderr).toContain("starting with [redacted]");
      pid = Number(bundle.codex.appServers[0]?.["pid"]);
      expect(leaks(bundle)).toEqual([]);
      process.kill(pid, "SIGKILL");
      await expect.poll(async () => (await read(client)).codex.stderr).toContain(`lost the process ${pid}`);
    }
    // Another start, without a codex.
    await using started = await home.start({
      ...options,
      codex: { ...options.codex, codexPath: "/nonexistent/codex" },
    });
    const bundle = await read(started.client);
    expect(bundle.codex.stderr).toContain("starting with [redacted]");
    expect(bundle.codex.stderr).toContain(`lost the process ${pid}`);
    expect(bundle.events.length).toBeGreaterThan(5);
    expect(leaks(bundle)).toEqual([]);
    const { token } = await started.daemon.tokens.create({
      name: "r",
      scopes: ["read", "write"],
      by: "test",
    });
    const response = await fetch(`${started.daemon.url}/sessions/${sessionId}/debug`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(response.status).toBe(403);
  });
});

/** The secrets that a bundle contains. */
function leaks(bundle: unknown): string[] {
  const json = JSON.stringify(bundle);
  const half = PLANTED.variable.slice(12);
  return [...Object.values(PLANTED), half, "planted-query", "planted-tool-secret"].filter((secret) =>
    json.includes(secret),
  );
}
