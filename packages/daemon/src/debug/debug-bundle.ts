import { CODEX_VERSION } from "codexkit";
import { readFile } from "node:fs/promises";
import { release } from "node:os";
import { join } from "node:path";
import type { DebugBundle } from "../api/debug.ts";
import type { SessionSetup } from "../api/settings.ts";
import type { DaemonCodexOptions } from "../codex/app-server.ts";
import type { StderrLog } from "../codex/stderr-log.ts";
import type { Database } from "../database.ts";
import { parseConfig, readConfigFile, redactConfig } from "./redact-config.ts";
import { readSecretAnswers } from "../inbox/read-secret-answers.ts";
import { setupSecrets, withoutUrlSecrets } from "../secrets/secret-mask.ts";
import type { Runner } from "../sessions/runner.ts";
import { viewApproval, viewCommand, viewSession } from "../views.ts";
import { allStrings, Redactor, secretValues } from "../secrets/redact.ts";

const LIMITS = {
  events: 200,
  commands: 100,
  approvals: 50,
  nodes: 50,
  stderrBytes: 128 * 1024,
  /** For the JSON of one event, command or approval. */
  entryCharacters: 16 * 1024,
} as const;

/** The sources of a bundle, in addition to the store. */
export interface DebugSources {
  readonly stderr: StderrLog;
  /** Codex's environment, as passed by the daemon. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The daemon's own Codex home. Its credentials are removed from all texts. */
  readonly codexHome: string;
  /** Options of the daemon. */
  readonly options: {
    readonly codex?: DaemonCodexOptions | undefined;
    readonly limits?: object | undefined;
    readonly roots: readonly string[];
    readonly sharedRoots: Readonly<Record<string, string>>;
  };
  /** Additional secrets from the daemon's options. */
  readonly secrets: readonly string[];
}

/**
 * Creates the diagnostic data of a session, without secrets. It only reads the store and files, so it works after Codex
 * or the daemon has crashed.
 */
export async function createDebugBundle(
  sessionId: string,
  {
    database,
    runner,
    sources,
    version,
    nodeName,
  }: {
    readonly database: Database;
    readonly runner: Runner;
    readonly sources: DebugSources;
    readonly version: string;
    readonly nodeName: string;
  },
): Promise<DebugBundle> {
  const { sessions, store, inbox, rollouts, nodes } = database;
  const row = await sessions.require(sessionId);
  const setup = JSON.parse(row.setup) as SessionSetup;
  const redactor = new Redactor([
    ...sources.secrets,
    ...secretValues({ ...process.env, ...sources.environment }),
    ...(await credentials(sources.codexHome)),
    ...secretsOf(setup),
    ...(await readSecretAnswers(store, [sessionId])).flatMap(({ answers }) => answers),
  ]);
  const isDedicated = setup.dedicated === true;
  const events = await store.db
    .selectFrom("event")
    .selectAll()
    .where("session_id", "=", sessionId)
    // A secret that is split across two deltas would not be recognised. The items contain the full text.
    .where("type", "!=", "item.delta")
    .orderBy("seq", "desc")
    .limit(LIMITS.events)
    .execute();
  const commands = await store.db
    .selectFrom("command")
    .selectAll()
    .where("session_id", "=", sessionId)
    .orderBy("position", "desc")
    .limit(LIMITS.commands)
    .execute();
  const approvals = await inbox.list({ sessionId, limit: LIMITS.approvals });
  const stderr = await sources.stderr.read(isDedicated ? sessionId : "shared", LIMITS.stderrBytes);
  const clean = (value: unknown): Record<string, unknown> =>
    truncateEntry(redactor.value(value, LIMITS.entryCharacters));
  return {
    createdAt: Date.now(),
    versions: {
      codexkit: version,
      codex: CODEX_VERSION,
      codexOfSession: row.codex_version,
      node: process.version,
      platform: `${process.platform}-${process.arch} ${release()}`,
    },
    session: redactor.value(viewSession(row)) as Record<string, unknown>,
    setup: redactor.value(withoutSecrets(setup)) as Record<string, unknown>,
    configuration: await configurationOf(sources, redactor),
    owner: { nodeId: row.node_id, readyAt: row.ready_at, needs: JSON.parse(row.needs) as string[] },
    events: events
      .toReversed()
      .map(({ session_id: _session, data, ...event }) => ({ ...event, data: clean(JSON.parse(data)) })),
    commands: commands
      .toReversed()
      .map((command) => ({ ...clean(viewCommand(command)), body: clean(JSON.parse(command.body)) })),
    inbox: approvals.rows.map((approval) => clean({ ...viewApproval(approval), note: approval.note })),
    rollouts: (await rollouts.lineage(sessionId)).map((file) => ({ ...file })),
    codex: {
      appServers: runner.status.appServers
        .filter((server) => server.sessionId === (isDedicated ? sessionId : null))
        .map((server) => ({ ...server })),
      stderr: redactor.text(stderr),
    },
    environment: redactor.environment(sources.environment),
    daemon: {
      nodeName,
      uptimeMs: Math.round(process.uptime() * 1000),
      memoryBytes: process.memoryUsage.rss(),
      runner: runner.status.state,
      store: { kind: store.kind, notifications: store.notifier.mode },
      sessionsByPhase: { ...(await sessions.countByPhase()) },
      nodes: (await nodes.list())
        .slice(0, LIMITS.nodes)
        .map(({ id, name, state, isAlive, version: nodeVersion, codex_version: codexVersion }) => ({
          id,
          name,
          state,
          isAlive,
          version: nodeVersion,
          codexVersion,
        })),
    },
  };
}

async function configurationOf(
  { codexHome, options }: DebugSources,
  redactor: Redactor,
): Promise<DebugBundle["configuration"]> {
  // The environment is a separate part of the bundle.
  const { env: _env, onStderr: _onStderr, config, configOverrides, ...codex } = options.codex ?? {};
  return {
    file: await readConfigFile(join(codexHome, "config.toml"), redactor),
    codex: {
      ...(redactConfig(codex, redactor) as object),
      ...(config && { config: redactConfig(config, redactor) }),
      ...(configOverrides && { configOverrides: configOverrides.map((text) => parseConfig(text, redactor)) }),
    },
    roots: [...options.roots],
    sharedRoots: options.sharedRoots,
    limits: { ...options.limits },
  };
}

/** Returns the credentials in `auth.json`. Every string in it is treated as one: keys, tokens, the account. */
async function credentials(codexHome: string): Promise<string[]> {
  try {
    return allStrings(JSON.parse(await readFile(join(codexHome, "auth.json"), "utf8")));
  } catch {
    return [];
  }
}

/**
 * The texts of a bundle may be redacted more than those of the journal, so no variable and no header is assumed to be
 * harmless.
 */
function secretsOf(setup: SessionSetup): string[] {
  const values = Object.values(setup.mcpServers ?? {}).flatMap((server) =>
    allStrings("command" in server ? server.env : server.headers),
  );
  return [...values, ...setupSecrets(setup)];
}

/** Keeps the structure of the setup, because the cause of a problem may be the set of servers, variables or headers. */
function withoutSecrets({ mcpServers, environment, tools, ...rest }: SessionSetup): Record<string, unknown> {
  const mask = (values: Readonly<Record<string, string>> | undefined) =>
    values && Object.fromEntries(Object.keys(values).map((name) => [name, "[redacted]"]));
  return {
    ...rest,
    ...(mcpServers && {
      mcpServers: Object.fromEntries(
        Object.entries(mcpServers).map(([name, server]) => [
          name,
          "command" in server
            ? { ...server, env: mask(server.env) }
            : { ...server, url: withoutUrlSecrets(server.url), headers: mask(server.headers) },
        ]),
      ),
    }),
    ...(environment && {
      environment: {
        url: withoutUrlSecrets(environment.url),
        hasToken: environment.token !== undefined,
        hasSecret: environment.secret !== undefined,
      },
    }),
    ...(tools && {
      tools: tools.map(({ name, url, secret }) => ({
        name,
        url: withoutUrlSecrets(url),
        hasSecret: secret !== undefined,
      })),
    }),
  };
}

/** Replaces a long entry by the beginning of its JSON. */
function truncateEntry(value: unknown): Record<string, unknown> {
  const text = JSON.stringify(value);
  if (text.length <= LIMITS.entryCharacters) return value as Record<string, unknown>;
  return { cut: `${text.slice(0, LIMITS.entryCharacters)}…`, characters: text.length };
}
