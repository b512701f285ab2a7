import type { Quota } from "../api/account.ts";
import type { FileMatch } from "../api/file.ts";
import type { v2 } from "codexkit";
import type { CredentialStatus } from "../codex/credentials.ts";
import type { AppServerSummary } from "../codex/app-server.ts";

/** A model, as the API lists it. */
export interface ModelSummary {
  readonly id: string;
  readonly model: string;
  readonly name: string;
  readonly description: string;
  readonly isDefault: boolean;
  readonly hidden: boolean;
  readonly efforts: readonly string[];
  readonly defaultEffort: string;
  readonly inputs: readonly string[];
}

/** The signed-in account, without secrets. */
export interface AccountSummary {
  readonly account: v2.GetAccountResponse["account"];
  /** Whether the configured model provider needs an OpenAI account. */
  readonly requiresOpenaiAuth: boolean;
}

/** State of the runner as a node of a fleet. Counts are since the start. */
export interface FleetStatus {
  /** Time since the newest successful renewal of the lease was sent, in milliseconds. Null without a lease. */
  readonly leaseAgeMs: number | null;
  /** Whether the app-servers are stopped, because the lease may end before it can be renewed. */
  readonly isFrozen: boolean;
  /** Number of sessions that this node has given up because another node has taken them. */
  readonly fenced: number;
  /** Number of claimed sessions, by reason. */
  readonly claims: Readonly<Record<"ready" | "restart" | "node_lost", number>>;
  readonly renewals: { readonly ok: number; readonly failed: number };
}

/** Status of a runner without a lease. */
export const NO_FLEET_STATUS: FleetStatus = {
  leaseAgeMs: null,
  isFrozen: false,
  fenced: 0,
  claims: { ready: 0, restart: 0, node_lost: 0 },
  renewals: { ok: 0, failed: 0 },
};

/** State of the runner, for health, readiness, metrics and diagnostics. Reading it costs nothing. */
export interface RunnerStatus {
  readonly state: "stopped" | "starting" | "running" | "draining" | "closed";
  readonly nodeId: string | null;
  readonly sessions: number;
  readonly runningTurns: number;
  readonly openApprovals: number;
  readonly appServers: readonly AppServerSummary[];
  /** Number of turns that ended since the start, by outcome. */
  readonly turns: Readonly<Record<"completed" | "failed" | "interrupted", number>>;
  readonly appServerRestarts: number;
  readonly recoveredSessions: number;
  readonly fleet: FleetStatus;
}

/**
 * Owns sessions: claims them, runs their commands on Codex, writes their events and approvals. It is the only part of the
 * daemon that talks to Codex. HTTP handlers write command rows and answers, and never call it for a session.
 */
export interface Runner extends AsyncDisposable {
  /** Registers the node, attaches to the app-servers of an earlier boot, claims its sessions, and then keeps claiming sessions. */
  start(): Promise<void>;

  /**
   * Starts no more commands, waits for running turns up to the timeout, interrupts the rest, releases all sessions and ends codex.
   * The lease is kept until `close`, because the node must be known to be running. A second call with 0 ends the wait of the
   * first. Never rejects.
   */
  releaseSessions(timeoutMs: number): Promise<void>;

  /** The same as `releaseSessions`, and then ends the lease. */
  drain(timeoutMs: number): Promise<void>;

  /** The same as `drain(0)`. */
  close(): Promise<void>;

  readonly status: RunnerStatus;

  /** Calls the listener after each change of the status. */
  onChange(listener: (status: RunnerStatus) => void): Disposable;

  /** Codex's model catalog. Cached for a minute. */
  models(options?: { readonly signal?: AbortSignal }): Promise<readonly ModelSummary[]>;

  account(options?: { readonly signal?: AbortSignal }): Promise<AccountSummary>;

  /** The quotas of the account. Empty if it has none. Cached for a minute. */
  quotas(options?: { readonly signal?: AbortSignal }): Promise<readonly Quota[]>;

  /** Codex's fuzzy search for files below a folder. The best match comes first. */
  searchFiles(
    query: string,
    options: { readonly folder: string; readonly signal?: AbortSignal },
  ): Promise<readonly FileMatch[]>;

  /** Where the credentials come from. Never contains a secret. */
  credentialStatus(): CredentialStatus;
}
