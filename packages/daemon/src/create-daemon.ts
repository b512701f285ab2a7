import { messageOf } from "@codexkit/rpc/async";
import { access, mkdir, realpath, stat } from "node:fs/promises";
import { homedir, hostname } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Logger } from "pino";
import { Daemon } from "./daemon.ts";
import { type DaemonOptions, DEFAULT_RETENTION, DEFAULT_SETTINGS } from "./daemon-options.ts";
import { StderrLog } from "./codex/stderr-log.ts";
import { type Database, openDatabase } from "./database.ts";
import { DaemonError } from "./errors.ts";
import { FileService } from "./files/file-service.ts";
import { fleetLimits } from "./fleet/limits.ts";
import { parseNodeUrl } from "./fleet/node-url.ts";
import { createFirstToken } from "./first-token.ts";
import { HTTP_LIMITS } from "./limits.ts";
import { createLogger } from "./logger.ts";
import { checkOptions } from "./parse-options.ts";
import { testCommand } from "./policy/test-command.ts";
import { toVerdict } from "./policy/to-inbox-request.ts";
import { WEBHOOK_LIMITS, type WebhookSettings } from "./webhooks/limits.ts";
import { StaticFiles } from "./http/static-files.ts";
import { TerminalService } from "./terminals/terminal-service.ts";
import { CliHome } from "./threads/cli-home.ts";
import { CliThreads } from "./threads/cli-threads.ts";
import { THREAD_LIMITS } from "./threads/limits.ts";
import { createRunner } from "./sessions/create-runner.ts";
import { createReplayFolder, loadReplay } from "./replay/open-replay.ts";
import { ReplayRunner } from "./replay/replay-runner.ts";
import { StagedSession } from "./transfer/staged-session.ts";

/**
 * Opens the store, attaches to the app-servers of an earlier start, and continues its sessions. Call `listen`, or mount
 * `app` or `handler` in a server of your own.
 *
 * @example
 * ```ts
 * await using daemon = await createDaemon({ roots: ["/srv/projects"] });
 * console.log(await daemon.listen({ port: 4100 }));
 * ```
 */
export async function createDaemon(options: DaemonOptions = {}): Promise<Daemon> {
  checkOptions(options);
  await using made = new AsyncDisposableStack();
  const { limits = {}, auth = "tokens", drainMs = 30_000, replay } = options;
  const folder = replay === undefined ? undefined : made.use(await createReplayFolder());
  const stateFolder = folder?.path ?? resolve(options.stateFolder ?? join(homedir(), ".codexkit", "daemon"));
  const nodeName = options.nodeName ?? (options.store === undefined ? "local" : hostname());
  const logger = toLogger(options.logger);
  const sharedRoots = replay === undefined ? await resolveSharedRoots(options.sharedRoots ?? {}) : {};
  const roots =
    replay === undefined
      ? [
          ...(await resolveRoots(options.roots ?? (options.sharedRoots ? [] : [process.cwd()]))),
          ...Object.values(sharedRoots),
        ]
      : [];
  const fleet = fleetLimits(limits.fleet);
  const webhooks: WebhookSettings = {
    limits: { ...WEBHOOK_LIMITS, ...limits.webhooks },
    allowPrivate: options.allowPrivateAddresses ?? false,
  };
  const staticFiles =
    options.staticFiles === undefined ? undefined : await StaticFiles.open(options.staticFiles);
  await createFolder(stateFolder);

  let isOpen = false;
  const database = made.use(
    await openDatabase(options.store ?? join(stateFolder, "store"), {
      limits: { ...limits.store, ...limits.journal, ...limits.rollouts },
      leaseMs: fleet.leaseMs,
      // Until the store is open, its errors are those of attempts to connect. The caller gets the last one.
      onWarning: (error) => {
        if (isOpen) logger.warn({ err: error }, "store");
        else logger.info({ err: error }, "The store can't be reached yet");
      },
    }),
  );
  isOpen = true;
  const files = new FileService({
    roots,
    stateFolder: await realpath(stateFolder),
    limits: limits.files,
  });
  if (replay !== undefined) await loadReplay(database, replay);
  const stderr = new StderrLog(join(stateFolder, "stderr"));
  await stderr.removeExcept(async (sessionId) => {
    const session = await database.sessions.get(sessionId);
    return session !== undefined && session.phase !== "deleted";
  });
  const runner = made.use(
    replay === undefined
      ? createRunner({
          ...runnerOptions(options),
          fleet,
          drainMs,
          labels: [...(options.labels ?? []), ...Object.keys(sharedRoots)],
          database,
          files,
          stateFolder,
          nodeName,
          webhooks,
          stderr,
          log: logger,
          // Not earlier: a daemon with the same name may be running.
          onNameTaken: async () => {
            await files.cleanUp(database);
            await StagedSession.cleanUp(database, nodeName);
          },
        })
      : new ReplayRunner(),
  );
  const threads =
    replay === undefined ? await openThreads(options, { database, roots, stateFolder }) : undefined;
  const terminals = made.use(new TerminalService({ database, files, limits: limits.terminals }));
  if (auth === "tokens") await createFirstToken(database.tokens, stateFolder, logger);
  await runner.start();
  // From here on, the daemon ends them.
  made.move();
  return new Daemon({
    database,
    runner,
    files,
    terminals,
    threads,
    debug: {
      stderr,
      environment: codexEnvironment(options),
      codexHome: join(stateFolder, "codex"),
      options: { codex: options.codex, limits: options.limits, roots, sharedRoots },
      secrets: [options.apiKey, options.store && new URL(options.store).password].filter(isText),
    },
    logger,
    limits: { ...HTTP_LIMITS, ...limits.http },
    origins: {
      allowedHosts: [...(options.allowedHosts ?? []), ...advertisedHosts(options)],
      allowedOrigins: options.allowedOrigins ?? [],
    },
    staticFiles,
    auth,
    roots,
    sharedRoots,
    fleetLimits: fleet,
    defaults: { ...DEFAULT_SETTINGS, ...options.defaults },
    nodeName,
    drainMs,
    retention: replay === undefined ? { ...DEFAULT_RETENTION, ...options.retention } : NO_RETENTION,
    webhooks,
    testCommand: (settings, request) => toVerdict(testCommand(settings, request)),
    isReadOnly: replay !== undefined,
    ...(folder && { onClosed: async () => folder[Symbol.asyncDispose]() }),
  });
}

/** A replay keeps its journal as it is. Timers can't be longer. */
const NO_RETENTION = { everyMs: 2 ** 31 - 1 } as const;

function runnerOptions({ advertiseUrl, capacity, apiKey, userCodexHome, codex, limits }: DaemonOptions) {
  return {
    ...(advertiseUrl !== undefined && { url: advertiseUrl }),
    ...(capacity !== undefined && { capacity }),
    ...(apiKey !== undefined && { apiKey }),
    ...(userCodexHome !== undefined && { userCodexHome }),
    ...(codex && { codex }),
    ...(limits?.runner && { limits: limits.runner }),
  };
}

/** Other nodes send requests to it. */
function advertisedHosts({ advertiseUrl }: DaemonOptions): readonly string[] {
  const url = parseNodeUrl(advertiseUrl ?? null);
  return url ? [url.hostname] : [];
}

/** As the runner gives it to codex. */
function codexEnvironment({ codex = {} }: DaemonOptions): Readonly<Record<string, string | undefined>> {
  const { inheritEnv = true, env } = codex;
  return { ...(inheritEnv && process.env), ...env };
}

function isText(value: string | undefined): value is string {
  return value !== undefined && value !== "";
}

async function openThreads(
  { cliHome, userCodexHome, limits }: DaemonOptions,
  { database, roots, stateFolder }: { database: Database; roots: readonly string[]; stateFolder: string },
): Promise<CliThreads | undefined> {
  if (cliHome === false) return undefined;
  const path = resolve(cliHome ?? userCodexHome ?? process.env["CODEX_HOME"] ?? join(homedir(), ".codex"));
  const threadLimits = { ...THREAD_LIMITS, ...limits?.threads };
  const home = new CliHome(await realpath(path).catch(() => path), {
    scratchFolder: join(stateFolder, "unpacked"),
    limits: threadLimits,
  });
  return new CliThreads({ home, database, roots, limits: threadLimits });
}

function toLogger(logger: DaemonOptions["logger"] = "info"): Logger {
  return typeof logger === "string" ? createLogger(logger) : logger;
}

async function createFolder(path: string): Promise<void> {
  try {
    await createMissing(path);
  } catch (error) {
    const reason = messageOf(error);
    throw new DaemonError("bad_options", `The state folder "${path}" can't be created: ${reason}`, {
      cause: error,
    });
  }
}

/** One folder at a time: Node's recursive mkdir never ends where a file system, such as procfs, takes no new folders. */
async function createMissing(path: string): Promise<void> {
  if ((await stat(path).catch(() => undefined))?.isDirectory()) return;
  if (dirname(path) !== path) await createMissing(dirname(path));
  await mkdir(path, { mode: 0o700 }).catch(async (error: unknown) => {
    // Another process may have created it at the same time.
    if (!(await stat(path).catch(() => undefined))?.isDirectory()) throw error;
  });
}

async function resolveSharedRoots(
  sharedRoots: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, string>>> {
  const paths = await resolveRoots(Object.values(sharedRoots));
  return Object.fromEntries(Object.keys(sharedRoots).map((label, index) => [label, paths[index] ?? ""]));
}

async function resolveRoots(roots: readonly string[]): Promise<string[]> {
  return Promise.all(
    roots.map(async (root) => {
      try {
        const folder = await realpath(root);
        await access(join(folder, "."));
        return folder;
      } catch (error) {
        throw new DaemonError("bad_options", `The root "${root}" is not a folder, or does not exist.`, {
          cause: error,
        });
      }
    }),
  );
}
