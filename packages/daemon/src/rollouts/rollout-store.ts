import type { DaemonTransaction, Ownership } from "../database/ownership.ts";

export interface RolloutChunk {
  /** Codex's ID of the file. */
  readonly rolloutId: string;
  /** Relative to `CODEX_HOME`. */
  readonly path: string;
  /** The file that this one refers to, for forks and reverts. */
  readonly baseId?: string;
  readonly role: "main" | "base" | "agent";
  /** Where `data` begins. It must continue what is stored; bytes that are stored already are skipped. */
  readonly atByte: number;
  readonly data: Uint8Array;
}

export interface RolloutFile {
  readonly id: string;
  readonly path: string;
  readonly baseId: string | null;
  readonly role: "main" | "base" | "agent";
  readonly bytes: number;
}

/** Codex's rollout files, which are enough to resume a thread elsewhere. */
export interface RolloutStore {
  /** Call inside `Journal.append`'s `also`. Rejects with `rollout_mismatch` if bytes between are missing. */
  append(trx: DaemonTransaction, owner: Ownership, chunk: RolloutChunk): Promise<void>;
  /** Removes what is stored from a byte on, for a file that was truncated. */
  truncate(trx: DaemonTransaction, rolloutId: string, atByte: number): Promise<void>;
  /** Number of stored bytes; 0 for an unknown file. */
  storedBytes(rolloutId: string): Promise<number>;
  /** The files of a session and, through forks, those that they refer to. */
  lineage(sessionId: string): Promise<readonly RolloutFile[]>;
  /** The whole stored file. */
  read(rolloutId: string): Promise<Uint8Array | undefined>;
  /** Replaces the chunks of a file by one compressed image. */
  compact(rolloutId: string): Promise<void>;
}
