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
  /** Only used with Postgres, because a SQLite folder has one daemon. */
  readonly fleet?: Partial<FleetLimits>;
}

export interface DaemonRetention extends Retention {
  /** Age after which deltas are merged, in milliseconds. Default: 3,600,000. */
  readonly mergeAfterMs?: number;
  /** Interval between two runs, in milliseconds. Default: 600,000. */
  readonly everyMs?: number;
}

export interface DaemonOptions {
  /** Folder with the store, Codex's private home and the first token. Default: `~/.codexkit/daemon`. */
  readonly stateFolder?: string;
  /** A `postgres://` URL. Default: SQLite in the state folder. */
  readonly store?: string;
  /** Folders that sessions may work in. Default: the working folder of this process. */
  readonly roots?: readonly string[];
  /** Settings of new sessions, unless the client specifies them. */
  readonly defaults?: Partial<SessionSettings>;
  /** `tokens`: every request needs a token. `none`: every request has all scopes; only allowed on loopback. Default: `tokens`. */
  readonly auth?: "tokens" | "none";
  /** Host names to which requests may be addressed, besides loopback names and IP addresses. */
  readonly allowedHosts?: readonly string[];
  /** Origins of web pages that may call the API, besides the daemon's own. */
  readonly allowedOrigins?: readonly string[];
  /**
   * Whether webhooks and tools may have addresses outside the public internet, such as loopback. Default: false, because clients
   * that may register them could otherwise reach services in this machine's network.
   */
  readonly allowPrivateAddresses?: boolean;
  /**
   * Name of this daemon. It must be the same for every start, and unique among the daemons of a store. Default: `local`, or the
   * host name with Postgres.
   */
  readonly nodeName?: string;
  /** Labels of this node. A session that needs labels only runs on nodes that have them. */
  readonly labels?: readonly string[];
  /**
   * URL at which other daemons of the store, and clients, reach this daemon. Without it, requests for terminals and files of its
   * sessions can't be forwarded to it.
   */
  readonly advertiseUrl?: string;
  /** Maximum number of sessions that this daemon owns at the same time. Default: 200. */
  readonly capacity?: number;
  /**
   * Folders by label, which all daemons with the same label share under the same path. They are roots as well. Sessions in a shared
   * root can run on any of these daemons; all other sessions stay on the daemon that has their folder.
   */
  readonly sharedRoots?: Readonly<Record<string, string>>;
  /** An OpenAI API key. Default: `CODEX_API_KEY`, `OPENAI_API_KEY`, then a login of the user's Codex home. */
  readonly apiKey?: string;
  /** The Codex home that is searched for a login. Default: `$CODEX_HOME`, else `~/.codex`. */
  readonly userCodexHome?: string;
  /** The Codex home whose threads are served. It is only read. `false` serves none. Default: `userCodexHome`. */
  readonly cliHome?: string | false;
  /**
   * Path of an exported session to serve, read-only and without codex. The store is in a temporary folder, which `close` removes.
   * Can't be combined with `store` and `stateFolder`.
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
  /** A pino logger, or the level of the built-in logger, which writes JSON to standard error. Default: `info`. */
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
