import { CODEX_VERSION } from "codexkit";
import { readFile } from "node:fs/promises";
import { release } from "node:os";
import { join } from "node:path";
import type { DebugBundle } from "../api/debug.ts";
import type { SessionSetup } from "../api/settings.ts";
import type { StderrLog } from "../codex/stderr-log.ts";
import type { Database } from "../database.ts";
import { setupSecrets, withoutUrlSecrets } from "../secrets/secret-mask.ts";
import type { Runner } from "../sessions/runner.ts";
import { viewApproval, viewCommand, viewSession } from "../views.ts";
import { allStrings, isSecretName, Redactor, secretValues } from "../secrets/redact.ts";

const LIMITS = {
  events: 200,
  commands: 100,
  approvals: 50,
  nodes: 50,
  stderrBytes: 128 * 1024,
  /** Of the JSON of one event, command or approval. */
  entryCharacters: 16 * 1024,
} as const;

/** What a bundle is made of, besides the store. */
export interface DebugSources {
  readonly stderr: StderrLog;
  /** Of codex, as it was given by the daemon. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The daemon's own Codex home. Its credentials are removed from all texts. */
  readonly codexHome: string;
  /** Further secrets of the daemon's options. */
  readonly secrets: readonly string[];
}

/**
 * Everything that explains the state of a session, without secrets. It is read from the store and from files only, so that it
 * can be made after codex or the daemon has crashed.
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
  ]);
  const isDedicated = setup.dedicated === true;
  const events = await store.db
    .selectFrom("event")
    .selectAll()
    .where("session_id", "=", sessionId)
    // A secret that is split over two deltas would not be recognised. The items have the whole text.
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
  const clean = (value: unknown): Record<string, unknown> => cut(redactor.value(value));
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

/** Every string of `auth.json` is one: keys, tokens, the account. */
async function credentials(codexHome: string): Promise<string[]> {
  try {
    return allStrings(JSON.parse(await readFile(join(codexHome, "auth.json"), "utf8")));
  } catch {
    return [];
  }
}

/** Texts of a bundle may be changed more than those of the journal, so that no variable and no header is taken for harmless. */
function secretsOf(setup: SessionSetup): string[] {
  const values = Object.values(setup.mcpServers ?? {}).flatMap((server) =>
    "command" in server
      ? [...allStrings(server.env), ...secretArguments(server.args ?? [])]
      : allStrings(server.headers),
  );
  return [...values, ...setupSecrets(setup)];
}

/** Returns the arguments that follow an option such as `--api-key`. */
function secretArguments(args: readonly string[]): string[] {
  return args.filter((_, index) => {
    const [, option] = /^--?([\w-]+)$/.exec(args[index - 1] ?? "") ?? [];
    return option !== undefined && isSecretName(option);
  });
}

/** The shape of the setup stays: which servers, variables and headers there are may be what is wrong. */
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
      environment: { url: withoutUrlSecrets(environment.url), hasToken: environment.token !== undefined },
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

/** A long entry is shortened to its beginning, as text. */
function cut(value: unknown): Record<string, unknown> {
  const text = JSON.stringify(value);
  if (text.length <= LIMITS.entryCharacters) return value as Record<string, unknown>;
  return { cut: `${text.slice(0, LIMITS.entryCharacters)}…`, characters: text.length };
}
