import type { StoreLimits } from "@codexkit/store";
import type { Logger } from "pino";
import type { SessionSettings } from "./api/settings.ts";
import type { DaemonCodexOptions } from "./codex/app-server.ts";
import type { RunnerLimits } from "./codex/limits.ts";
import type { FileLimits } from "./files/limits.ts";
import type { FleetLimits } from "./fleet/limits.ts";
import type { JournalLimits } from "./journal/limits.ts";
import type { Retention } from "./journal/retention.ts";
import type { RolloutLimits } from "./rollouts/limits.ts";
import type { ThreadLimits } from "./threads/limits.ts";
import type { TerminalLimits } from "./terminals/limits.ts";
import type { HttpLimits } from "./limits.ts";
import type { WebhookLimits } from "./webhooks/limits.ts";

/** Limits of each part of the daemon. */
export interface DaemonLimits {
  readonly http?: Partial<HttpLimits>;
  readonly runner?: Partial<RunnerLimits>;
  readonly files?: Partial<FileLimits>;
  readonly terminals?: Partial<TerminalLimits>;
  readonly store?: Partial<StoreLimits>;
  readonly journal?: Partial<JournalLimits>;
  readonly rollouts?: Partial<RolloutLimits>;
  readonly webhooks?: Partial<WebhookLimits>;
  readonly threads?: Partial<ThreadLimits>;
  /** With Postgres only: a SQLite folder has one daemon. */
  readonly fleet?: Partial<FleetLimits>;
}

export interface DaemonRetention extends Retention {
  /** Deltas are merged after this time, in milliseconds. Default: 3,600,000. */
  readonly mergeAfterMs?: number;
  /** Between two runs, in milliseconds. Default: 600,000. */
  readonly everyMs?: number;
}

export interface DaemonOptions {
  /** Folder of the store, Codex's private home and the first token. Default: `~/.codexkit/daemon`. */
  readonly stateFolder?: string;
  /** A `postgres://` URL. Default: SQLite in the state folder. */
  readonly store?: string;
  /** Folders that sessions may work in. Default: the working folder of this process. */
  readonly roots?: readonly string[];
  /** Settings of new sessions, where the client gives none. */
  readonly defaults?: Partial<SessionSettings>;
  /** tokens: every request needs one. none: every request is allowed everything; possible on loopback only. Default: tokens. */
  readonly auth?: "tokens" | "none";
  /** Host names that requests may be addressed to, besides loopback names and IP addresses. */
  readonly allowedHosts?: readonly string[];
  /** Origins of web pages that may call the API, besides the daemon's own. */
  readonly allowedOrigins?: readonly string[];
  /**
   * Whether webhooks and tools may be at addresses outside the public internet, such as loopback. Default: false, because
   * clients with the scope to register them could reach services of this machine's network.
   */
  readonly allowPrivateAddresses?: boolean;
  /** The same for every start of this daemon, and unique among the daemons of a store. Default: `local`, or the host name with Postgres. */
  readonly nodeName?: string;
  /** Labels of this node, for sessions that need them. */
  readonly labels?: readonly string[];
  /** Where the other daemons of the store, and clients, reach this one. Without it, they get no terminals and files of its sessions. */
  readonly advertiseUrl?: string;
  /** Sessions that this daemon owns at the same time. Default: 200. */
  readonly capacity?: number;
  /**
   * By label: folders that all daemons with this shared root see under the same path. They are roots too. Sessions in them can run
   * on any of these daemons; all others stay on the daemon that has their folder.
   */
  readonly sharedRoots?: Readonly<Record<string, string>>;
  /** An OpenAI API key. Default: `CODEX_API_KEY`, `OPENAI_API_KEY`, then a login of the user's Codex home. */
  readonly apiKey?: string;
  /** Where a login is looked for. Default: `$CODEX_HOME`, else `~/.codex`. */
  readonly userCodexHome?: string;
  /** The Codex home whose threads are served, which is only read. false: none. Default: `userCodexHome`. */
  readonly cliHome?: string | false;
  /**
   * An exported session to serve, read-only and without codex. The store is in a temporary folder, which is removed by `close`.
   * Excludes `store` and `stateFolder`.
   */
  readonly replay?: string;
  /**
   * A folder with the built files of a web page, served without a token at `/console/`. `/` redirects to it. Default: none.
   */
  readonly staticFiles?: string;
  /** How codex is launched. */
  readonly codex?: DaemonCodexOptions;
  readonly limits?: DaemonLimits;
  /** What happens to old events. Default: deltas are merged after an hour, nothing is removed. */
  readonly retention?: DaemonRetention;
  /** How long `close` waits for running turns, in milliseconds. Default: 30,000. */
  readonly drainMs?: number;
  /** A pino logger, or the level of the daemon's own one, which writes JSON to standard error. Default: `info`. */
  readonly logger?: Logger | "silent" | "debug" | "info" | "warn" | "error";
}

export const DEFAULT_RETENTION = {
  mergeAfterMs: 3_600_000,
  everyMs: 600_000,
} as const satisfies DaemonRetention;

export const DEFAULT_SETTINGS: SessionSettings = {
  permissionMode: "workspace-write",
  agentMode: "build",
  approvalPolicy: "on-request",
};
