import { openStore, type Store, type StoreLimits } from "@codexkit/store";
import { CommandStore } from "./commands/command-store.ts";
import { DaemonError } from "./errors.ts";
import { Inbox } from "./inbox/inbox.ts";
import { ParkedInbox } from "./inbox/parked-inbox.ts";
import { Journal } from "./journal/journal.ts";
import { DEFAULT_JOURNAL_LIMITS, type JournalLimits } from "./journal/limits.ts";
import type { RolloutLimits } from "./rollouts/limits.ts";
import { RolloutStore } from "./rollouts/rollout-store.ts";
import { LoginStore } from "./tokens/login-store.ts";
import { TokenStore } from "./tokens/token-store.ts";
import { AppServerStore } from "./database/app-server-store.ts";
import { AuditLog } from "./database/audit-log.ts";
import { migrations } from "./database/migrations.ts";
import { NodeStore } from "./database/node-store.ts";
import { NodeDirectory } from "./fleet-store/node-directory.ts";
import { TenantStore } from "./fleet-store/tenant-store.ts";
import { WebhookStore } from "./webhook-store/webhook-store.ts";
import { SessionStore } from "./session-store/session-store.ts";
import type { DaemonTables } from "./database/tables.ts";

const DEFAULT_LEASE_MS = 30_000;

export interface OpenDatabaseOptions {
  readonly limits?: Partial<StoreLimits & JournalLimits & RolloutLimits>;
  /** How long a node owns its sessions after its newest renewal. Default: 30,000. */
  readonly leaseMs?: number;
  /** SQLite only. Default: `full`. */
  readonly synchronous?: "full" | "normal";
  /** Receives failures that no caller waits for, such as a lost connection. */
  readonly onWarning?: (error: Error) => void;
}

/** Everything that the daemon stores. No function here talks to Codex or HTTP. */
export class Database implements AsyncDisposable {
  /** Where it was opened. It may contain a password. */
  readonly location: string;
  readonly store: Store<DaemonTables>;
  readonly nodes: NodeStore;
  readonly sessions: SessionStore;
  readonly journal: Journal;
  readonly commands: CommandStore;
  readonly inbox: Inbox;
  readonly parked: ParkedInbox;
  readonly rollouts: RolloutStore;
  readonly appServers: AppServerStore;
  readonly tokens: TokenStore;
  readonly logins: LoginStore;
  readonly audit: AuditLog;
  readonly webhooks: WebhookStore;
  readonly fleet: NodeDirectory;
  readonly tenants: TenantStore;
  readonly #closing = new AbortController();

  constructor(
    location: string,
    store: Store<DaemonTables>,
    { limits, leaseMs = DEFAULT_LEASE_MS }: OpenDatabaseOptions = {},
  ) {
    const closed = this.#closing.signal;
    this.location = location;
    this.store = store;
    this.journal = new Journal(store, { ...DEFAULT_JOURNAL_LIMITS, ...limits });
    this.audit = new AuditLog(store);
    this.nodes = new NodeStore(store, leaseMs);
    this.sessions = new SessionStore(store, this.journal);
    this.commands = new CommandStore(store, this.journal, this.sessions, closed);
    this.inbox = new Inbox(store, this.journal, this.sessions, this.audit, closed);
    this.parked = new ParkedInbox(store, this.journal);
    this.rollouts = new RolloutStore(store, limits);
    this.appServers = new AppServerStore(store);
    this.tokens = new TokenStore(store, this.audit);
    this.logins = new LoginStore(store, this.audit);
    this.webhooks = new WebhookStore(store, this.audit);
    this.fleet = new NodeDirectory(store, this.audit);
    this.tenants = new TenantStore(store, this.audit);
  }

  /** Stores what was appended, then closes the store. Pending waits reject with `closed`. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort(new DaemonError("closed", "The database is closed."));
    await this.journal.close();
    await this.store.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/**
 * Opens the daemon's store and brings its schema up to date.
 *
 * @param location A folder for SQLite, or a `postgres://` URL.
 */
export async function openDatabase(location: string, options: OpenDatabaseOptions = {}): Promise<Database> {
  const { limits, synchronous, onWarning } = options;
  const store = await openStore<DaemonTables>({
    location,
    name: "daemon",
    migrations,
    ...(limits && { limits }),
    ...(synchronous && { synchronous }),
    ...(onWarning && { onWarning }),
  });
  return new Database(location, store, options);
}
