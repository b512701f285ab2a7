import { createDaemon, type Daemon, DaemonError, type DaemonOptions } from "@codexkit/daemon";
import { DaemonClient } from "@codexkit/daemon/client";
import { type Credentials, discoverCredentials } from "codexkit";
import { accessSync, constants, existsSync, readFileSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { consoleAddress, createConsoleUrl } from "./console-url.ts";
import type { CliContext } from "../context.ts";
import { CliError, EXIT, usageError } from "../errors/cli-error.ts";
import { lifetime } from "../process/lifetime.ts";
import type { ServeOptions } from "./serve-options.ts";
import { nameFlags } from "./name-flags.ts";
import { prepareToken } from "./prepare-token.ts";
import { statesFolder, writeDaemonState } from "./state-file.ts";

/**
 * A listening daemon, with the state file through which other commands find it. Dispose of it after the
 * daemon has closed.
 */
export interface StartedDaemon extends AsyncDisposable {
  readonly daemon: Daemon;
  readonly url: string;
  /** Contains a code that logs in one browser. Null if the console is not served. */
  readonly consoleUrl: string | null;
  readonly stateFolder: string;
  readonly store: "sqlite" | "postgres" | "replay";
  readonly roots: readonly string[];
  readonly hasAuth: boolean;
  /** Null if no token is stored on this machine. */
  readonly tokenFile: string | null;
  /** The source of the credentials, without secrets. */
  readonly credentials: CredentialSummary;
  readonly isDemo: boolean;
}

export interface CredentialSummary {
  readonly kind: Credentials["kind"];
  readonly source?: string;
  readonly email?: string;
  readonly reason?: string;
}

export async function startDaemon(options: ServeOptions, context: CliContext): Promise<StartedDaemon> {
  const { env } = context;
  const { demo: isDemo = false, listen, auth: hasAuth, replay } = options;
  if (replay !== undefined) checkReplay(options);
  const { stateFolder, ...location } = locateStore({ ...options, ...storeOf(options, context) });
  if (location.store === undefined) warnAboutFleet(options, context);
  const roots =
    replay === undefined
      ? (options.root ?? (options.sharedRoot ? [] : ["."])).map((root) => resolve(root))
      : [];
  const sharedRoots = resolveFolders(options.sharedRoot ?? {});
  await using made = new AsyncDisposableStack();
  const staticFiles = options.console ? await findConsole() : undefined;
  const daemonOptions: DaemonOptions = {
    ...(replay === undefined ? { stateFolder, ...location, roots } : { replay }),
    drainMs: options.drain,
    logger: options.logLevel,
    auth: hasAuth ? "tokens" : "none",
    ...(options.allowHost && { allowedHosts: options.allowHost }),
    ...(options.allowOrigin && { allowedOrigins: options.allowOrigin }),
    ...(options.nodeName !== undefined && { nodeName: options.nodeName }),
    ...(options.label && { labels: options.label }),
    ...(options.advertise !== undefined && { advertiseUrl: options.advertise }),
    ...(options.sharedRoot && { sharedRoots }),
    capacity: options.capacity,
    defaults: { onInterrupted: options.onInterrupted },
    ...(staticFiles !== undefined && { staticFiles }),
    ...(isDemo && (await startDemoModel(made, stateFolder, env))),
  };
  try {
    const daemon = await createDaemon(daemonOptions);
    made.defer(async () => daemon.close({ drainMs: 0 }));
    const tokenFile = hasAuth
      ? await prepareToken(daemon, stateFolder, options.tokenFile ?? replayToken(made, replay))
      : null;
    const url = await daemon.listen(listen);
    made.use(await writeDaemonState({ url, tokenFile, stateFolder, isDemo, startedAt: Date.now() }));
    const owned = made.move();
    return {
      daemon,
      url,
      consoleUrl: staticFiles === undefined ? null : await openConsole(url, { hasAuth, tokenFile }),
      stateFolder,
      store: replay !== undefined ? "replay" : location.store === undefined ? "sqlite" : "postgres",
      roots: [...new Set([...roots, ...Object.values(sharedRoots)])],
      hasAuth,
      tokenFile,
      credentials: await readCredentials(stateFolder),
      isDemo,
      [Symbol.asyncDispose]: async () => owned.disposeAsync(),
    };
  } catch (error) {
    throw explain(error, options);
  }
}

/** Undefined in a clone whose packages have not been built. */
async function findConsole(): Promise<string | undefined> {
  const { staticFiles } = await import("@codexkit/console");
  return existsSync(join(staticFiles, "index.html")) ? staticFiles : undefined;
}

/** How long the printed link is valid. */
const LINK_MS = 30 * 60_000;

async function openConsole(
  url: string,
  { hasAuth, tokenFile }: { readonly hasAuth: boolean; readonly tokenFile: string | null },
): Promise<string> {
  // The user has deleted the token of this machine and logs in with another one.
  if (!hasAuth || tokenFile === null) return consoleAddress(url);
  const token = readFileSync(tokenFile, "utf8").trim();
  return createConsoleUrl(url, new DaemonClient({ url, token }), { expiresInMs: LINK_MS });
}

/**
 * A URL may come from the environment, where other users of the machine can't see its password. The variable
 * is deleted, so that no command of a session inherits it.
 */
function storeOf({ store, demo, replay }: ServeOptions, context: CliContext): Pick<ServeOptions, "store"> {
  const { env } = context;
  const { CODEXKIT_STORE: variable } = env;
  delete env["CODEXKIT_STORE"];
  if (store !== undefined) return { store };
  if (variable === undefined || variable === "" || replay !== undefined) return {};
  if (demo !== true) return { store: variable };
  warn(
    context,
    "CODEXKIT_STORE is not used with --demo, so that no scripted model works on its sessions.",
    'Pass --store "$CODEXKIT_STORE" to use that store.',
  );
  return {};
}

/** Warns about options for the nodes of a fleet, which shares a store in Postgres. */
function warnAboutFleet({ advertise, sharedRoot }: ServeOptions, context: CliContext): void {
  const flags = [
    ...(advertise === undefined ? [] : ["--advertise"]),
    ...(sharedRoot === undefined ? [] : ["--shared-root"]),
  ];
  if (flags.length === 0) return;
  const are = flags.length === 1 ? "is" : "are";
  warn(
    context,
    `${flags.join(" and ")} ${are} for nodes that share a store in Postgres. This daemon uses SQLite.`,
    "Pass a postgres:// URL to --store or set CODEXKIT_STORE.",
  );
}

function warn({ stderr, errorStyle }: CliContext, ...lines: readonly string[]): void {
  stderr.write(`${errorStyle.yellow("warning:")} ${lines.join("\n")}\n`);
}

function resolveFolders(folders: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(folders).map(([label, folder]) => [label, resolve(folder)]));
}

function checkReplay({ replay = "", store, stateFolder, demo, root }: ServeOptions): void {
  if (store ?? stateFolder ?? demo ?? root) {
    throw usageError(
      "--replay uses a temporary store, so --store, --state-folder, --demo and --root can't be used with it.",
    );
  }
  try {
    accessSync(replay, constants.R_OK);
  } catch (error) {
    const { code = "unknown reason" } = error as NodeJS.ErrnoException;
    throw usageError(
      `The file ${replay} can't be read (${code}).`,
      "Pass a file from `codexkit sessions export`.",
    );
  }
}

/** A replay has a new store each time, and therefore a new token. */
function replayToken(made: AsyncDisposableStack, replay: string | undefined): string | undefined {
  if (replay === undefined) return undefined;
  const path = join(statesFolder(), `${process.pid}.token`);
  const remove = (): void => rmSync(path, { force: true });
  made.use(lifetime.onExit(remove));
  made.defer(remove);
  return path;
}

function locateStore({ store, stateFolder, replay, demo = false }: ServeOptions): {
  readonly stateFolder: string;
  readonly store?: string;
} {
  if (replay !== undefined) return { stateFolder: resolve(replay) };
  const standard = join(homedir(), ".codexkit", demo ? "demo-daemon" : "daemon");
  if (store !== undefined && /^postgres(?:ql)?:\/\//.test(store)) {
    return { store, stateFolder: resolve(stateFolder ?? standard) };
  }
  if (store !== undefined && /^[a-z]+:\/\//i.test(store)) {
    throw usageError(
      `--store expects a folder or a postgres:// URL, but received ${store.split("://")[0]}://.`,
    );
  }
  if (store !== undefined && stateFolder !== undefined) {
    throw usageError(
      "--state-folder requires a store in Postgres. A folder passed to --store is also the state folder.",
    );
  }
  return { stateFolder: resolve(store ?? stateFolder ?? standard) };
}

/**
 * Returns options that make codex use a scripted model, which stops with the daemon. No credentials are
 * copied.
 */
async function startDemoModel(
  made: AsyncDisposableStack,
  stateFolder: string,
  env: NodeJS.ProcessEnv,
): Promise<DaemonOptions> {
  const { codexConfig, demoScript, ScriptedModel, variablesToRemove, withoutModelVariables } =
    await import("@codexkit/scripted-model");
  // The daemon reads keys from the environment of its process and stores them for codex.
  for (const name of variablesToRemove) delete env[name];
  const model = made.use(await ScriptedModel.start(demoScript));
  return {
    userCodexHome: join(stateFolder, "no-login"),
    codex: {
      configOverrides: codexConfig(model, { model: "demo-model" }).overrides,
      inheritEnv: false,
      env: withoutModelVariables(env),
    },
  };
}

/** The credentials that the daemon uses: the user's, or a login in the daemon's own Codex home. */
async function readCredentials(stateFolder: string): Promise<CredentialSummary> {
  const found = await discoverCredentials();
  const isUsable = found.kind === "apiKey" || found.kind === "chatgpt";
  const own = isUsable
    ? found
    : await discoverCredentials({ env: {}, codexHome: join(stateFolder, "codex") });
  return summarizeCredentials(own.kind === "apiKey" || own.kind === "chatgpt" ? own : found);
}

export function summarizeCredentials(found: Credentials): CredentialSummary {
  if (found.kind === "none") return { kind: "none" };
  const { kind, source } = found;
  if (kind === "unusable") return { kind, source, reason: `${found.path}: ${found.reason}` };
  const email = kind === "chatgpt" ? found.email : undefined;
  return { kind, source, ...(email !== undefined && { email }) };
}

function explain(error: unknown, { listen }: ServeOptions): unknown {
  if (!DaemonError.is(error)) return error;
  const { code } = (error.cause ?? {}) as NodeJS.ErrnoException;
  const hint = LISTEN_HINTS[code ?? ""];
  if (hint !== undefined) {
    const address = `${listen.host}:${listen.port}`;
    return new CliError(EXIT.failed, `The daemon can't listen on ${address} (${code}).`, {
      cause: error,
      hint,
    });
  }
  if (error.code === "bad_options")
    return new CliError(EXIT.usage, nameFlags(error.message), { cause: error });
  return error;
}

const LISTEN_HINTS: Readonly<Record<string, string>> = {
  EADDRINUSE:
    "Another program uses this port. Choose another one with --listen, or let the system choose with --listen :0.",
  EACCES: "Choose a port above 1023 with --listen.",
  EADDRNOTAVAIL: "Choose an address of this machine with --listen.",
  ENOTFOUND: "Choose an address of this machine with --listen.",
};
