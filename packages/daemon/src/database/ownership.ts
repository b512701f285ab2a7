import type { Transaction } from "kysely";
import type { SecretMask } from "../secrets/secret-mask.ts";
import type { DaemonTables, SessionRow } from "./tables.ts";

/** The right to write to a session. It ends without notice when another node claims the session. */
export interface Ownership {
  readonly sessionId: string;
  readonly nodeId: string;
  readonly epoch: number;
  /** Removes the secrets of the session's setup from everything that the owner stores. Undefined if there are none. */
  readonly mask?: SecretMask;
}

/** A session that has just been claimed. */
export interface ClaimedSession extends Ownership {
  readonly session: SessionRow;
  /**
   * ready: it had no owner. restart: it belonged to an earlier boot of the same node. node_lost: the lease of its node
   * has expired. For the last two, and if the session changed its node, the claim has appended `session.moved`.
   */
  readonly reason: "ready" | "restart" | "node_lost";
  /** Name of the previous node, or null. */
  readonly previousNode: string | null;
  /**
   * Whether its tenant has a limit for owned sessions. If so, a session without work is released to make room for
   * others.
   */
  readonly isLimited: boolean;
}

export type DaemonTransaction = Transaction<DaemonTables>;
