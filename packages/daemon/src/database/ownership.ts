import type { Transaction } from "kysely";
import type { SecretMask } from "../secrets/secret-mask.ts";
import type { DaemonTables, SessionRow } from "./tables.ts";

/** The right to write to a session. It ends, without notice, when another node claims the session. */
export interface Ownership {
  readonly sessionId: string;
  readonly nodeId: string;
  readonly epoch: number;
  /** Removes the secrets of the session's setup from what the owner stores. Undefined if there are none. */
  readonly mask?: SecretMask;
}

/** A session that was just claimed. */
export interface ClaimedSession extends Ownership {
  readonly session: SessionRow;
  /**
   * ready: it had no owner. restart: it belonged to a former boot of the same node. node_lost: the lease of its node has
   * ended. For the last two, and if the node is another one than before, the claim has appended `session.moved`.
   */
  readonly reason: "ready" | "restart" | "node_lost";
  /** The name of the node that had it before, or null. */
  readonly previousNode: string | null;
  /** Whether its tenant may have a limited number of sessions with an owner, so that one without work makes room for others. */
  readonly isLimited: boolean;
}

export type DaemonTransaction = Transaction<DaemonTables>;
