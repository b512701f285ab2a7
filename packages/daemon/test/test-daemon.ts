import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Scope, SCOPES } from "../src/api/route.ts";
import { StderrLog } from "../src/codex/stderr-log.ts";
import { DaemonClient } from "../src/client/client.ts";
import { Daemon, type DaemonParts } from "../src/daemon.ts";
import type { Database } from "../src/database.ts";
import { FileService } from "../src/files/file-service.ts";
import type { FileLimits } from "../src/files/limits.ts";
import { FLEET_LIMITS } from "../src/fleet/limits.ts";
import { HTTP_LIMITS, type HttpLimits } from "../src/limits.ts";
import { createLogger } from "../src/logger.ts";
import { WEBHOOK_LIMITS } from "../src/webhooks/limits.ts";
import type { TerminalLimits } from "../src/terminals/limits.ts";
import { TerminalService } from "../src/terminals/terminal-service.ts";
import { EchoRunner } from "./echo-runner.ts";
import { SETTINGS } from "./database-fixture.ts";

export interface TestDaemon extends AsyncDisposable {
  readonly daemon: Daemon;
  readonly database: Database;
  readonly runner: EchoRunner;
  /** A folder that sessions may work in. */
  readonly root: string;
  readonly stateFolder: string;
  readonly token: string;
  readonly logs: string[];
  /** Sends a request with all scopes, without a socket. */
  request(operation: string, init?: RequestInit & { json?: unknown }): Promise<Response>;
  createToken(scopes: readonly Scope[]): Promise<string>;
  /** A client of the listening daemon. */
  listen(): Promise<DaemonClient>;
}

/** Starts a daemon without Codex, with a real database and a runner that repeats messages. */
export async function startTestDaemon(
  database: Database,
  {
    limits,
    fileLimits,
    terminalLimits,
    ...parts
  }: Partial<Omit<DaemonParts, "limits">> & {
    limits?: Partial<HttpLimits>;
    fileLimits?: Partial<FileLimits>;
    terminalLimits?: Partial<TerminalLimits>;
  } = {},
): Promise<TestDaemon> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "codexkit-daemon-")));
  const stateFolder = await realpath(await mkdtemp(join(tmpdir(), "codexkit-state-")));
  const files = new FileService({ roots: [root], stateFolder, limits: fileLimits });
  const runner = new EchoRunner(database, parts.nodeName ?? "here", files);
  await runner.start();
  const logs: string[] = [];
  const daemon = new Daemon({
    database,
    runner,
    files,
    terminals: new TerminalService({ database, files, limits: terminalLimits }),
    logger: createLogger("debug", { write: (line) => logs.push(line) }),
    threads: undefined,
    isReadOnly: false,
    debug: {
      stderr: new StderrLog(join(stateFolder, "stderr")),
      environment: {},
      codexHome: join(stateFolder, "codex"),
      options: { roots: [root], sharedRoots: {} },
      secrets: [],
    },
    limits: { ...HTTP_LIMITS, ...limits },
    origins: { allowedHosts: [], allowedOrigins: [] },
    staticFiles: undefined,
    auth: "tokens",
    roots: [root],
    sharedRoots: {},
    fleetLimits: { ...FLEET_LIMITS, drainListenMs: 0 },
    defaults: SETTINGS,
    nodeName: "here",
    drainMs: 1000,
    retention: { everyMs: 600_000 },
    webhooks: { limits: WEBHOOK_LIMITS, allowPrivate: true },
    testCommand: () => ({ decision: "ask", reason: "test", rule: "test", segments: [] }),
    ...parts,
  });
  const createToken = async (scopes: readonly Scope[]): Promise<string> =>
    (await daemon.tokens.create({ name: scopes.join("+"), scopes, by: "test" })).token;
  const token = await createToken(SCOPES);
  return {
    daemon,
    database,
    runner,
    root,
    stateFolder,
    token,
    logs,
    createToken,
    request: async (operation, { json, ...init } = {}) => {
      const [method = "", path = ""] = operation.split(" ");
      return daemon.fetch(
        new Request(`http://localhost${path}`, {
          method,
          ...(json !== undefined && { body: JSON.stringify(json) }),
          ...init,
          headers: {
            host: "localhost",
            authorization: `Bearer ${token}`,
            ...(json !== undefined && { "content-type": "application/json" }),
            ...(init.headers as Record<string, string> | undefined),
          },
        }),
      );
    },
    listen: async () => new DaemonClient({ url: await daemon.listen(), token }),
    [Symbol.asyncDispose]: async () => {
      await daemon.close();
      await rm(root, { recursive: true, force: true });
      await rm(stateFolder, { recursive: true, force: true });
    },
  };
}
