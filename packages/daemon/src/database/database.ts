import type { Store, StoreLimits } from "@codexkit/store";
import type { CommandStore } from "../commands/command-store.ts";
import type { Inbox } from "../inbox/inbox.ts";
import type { Journal, JournalLimits } from "../journal/journal.ts";
import type { RolloutStore } from "../rollouts/rollout-store.ts";
import type { TokenStore } from "../tokens/token-store.ts";
import type { AppServerStore } from "./app-server-store.ts";
import type { AuditLog } from "./audit-log.ts";
import type { NodeStore } from "./node-store.ts";
import type { SessionStore } from "./session-store.ts";
import type { DaemonTables } from "./tables.ts";

export interface OpenDatabaseOptions {
  readonly limits?: Partial<StoreLimits & JournalLimits>;
  /** How long a node owns its sessions after its newest renewal. Default: 30,000. */
  readonly leaseMs?: number;
  /** SQLite only. Default: `full`. */
  readonly synchronous?: "full" | "normal";
  /** Receives failures that no caller waits for, such as a lost connection. */
  readonly onWarning?: (error: Error) => void;
}

/** Everything that the daemon stores. No function here talks to Codex or HTTP. */
export interface Database extends AsyncDisposable {
  readonly store: Store<DaemonTables>;
  readonly nodes: NodeStore;
  readonly sessions: SessionStore;
  readonly journal: Journal;
  readonly commands: CommandStore;
  readonly inbox: Inbox;
  readonly rollouts: RolloutStore;
  readonly appServers: AppServerStore;
  readonly tokens: TokenStore;
  readonly audit: AuditLog;
  /** Stores what was appended, then closes the store. Pending waits reject with `closed`. */
  close(): Promise<void>;
}
