import type { DaemonTransaction } from "./ownership.ts";
import type { Page } from "./session-store.ts";
import type { AuditRow } from "./tables.ts";

export interface AuditEntry {
  readonly by: string;
  readonly action: string;
  readonly sessionId?: string;
  /** The ID of what was changed: an approval, a token. */
  readonly subject?: string;
  /** Without secrets. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** Who did what. Answers and token changes are recorded by their stores, in the same transaction. */
export interface AuditLog {
  record(entry: AuditEntry, trx?: DaemonTransaction): Promise<void>;
  /** Newest first. */
  list(query?: {
    readonly sessionId?: string;
    readonly cursor?: string;
    readonly limit?: number;
  }): Promise<Page<AuditRow>>;
}
