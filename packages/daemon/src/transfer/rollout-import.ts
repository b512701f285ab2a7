import type { DaemonTransaction } from "../database/ownership.ts";
import { DaemonError } from "../errors.ts";
import type { RolloutStore } from "../rollouts/rollout-store.ts";
import type { LineOf } from "./session-file.ts";

/** Epoch of the stored bytes. No owner has written them. */
const NO_EPOCH = 0;

/**
 * Stores one rollout file of an imported session. A file that the store has already, because two sessions have a common
 * history, must have the same bytes.
 */
export class RolloutImport {
  readonly #rollouts: RolloutStore;
  readonly #sessionId: string;
  readonly #line: LineOf<"rollout">;
  readonly #stored: Uint8Array;
  #bytes = 0;

  private constructor(
    rollouts: RolloutStore,
    sessionId: string,
    line: LineOf<"rollout">,
    stored: Uint8Array,
  ) {
    this.#rollouts = rollouts;
    this.#sessionId = sessionId;
    this.#line = line;
    this.#stored = stored;
  }

  static async begin(
    rollouts: RolloutStore,
    trx: DaemonTransaction,
    sessionId: string,
    line: LineOf<"rollout">,
  ): Promise<RolloutImport> {
    const stored = (await rollouts.readIn(trx, line.id)) ?? new Uint8Array();
    if (line.role !== "base" && (await rollouts.isOwned(trx, line.id))) {
      throw new DaemonError(
        "unprocessable",
        `The rollout ${line.id} belongs to another session of this daemon.`,
      );
    }
    return new RolloutImport(rollouts, sessionId, line, stored);
  }

  async add(trx: DaemonTransaction, data: Buffer): Promise<void> {
    const known = this.#stored.subarray(this.#bytes, this.#bytes + data.length);
    // Nothing is added to a file that the store has: it belongs to another session.
    const isKnown = this.#stored.length === 0 || data.equals(known);
    if (!isKnown) throw this.#differs();
    const { id: rolloutId, path, baseId, role } = this.#line;
    await this.#rollouts.appendWhole(
      trx,
      { sessionId: this.#sessionId, epoch: NO_EPOCH, nodeId: "" },
      { rolloutId, path, ...(baseId !== null && { baseId }), role, atByte: this.#bytes, data },
    );
    this.#bytes += data.length;
  }

  end(): void {
    const { id, bytes, role } = this.#line;
    if (this.#bytes !== bytes) {
      throw new DaemonError("unprocessable", `The rollout ${id} has ${this.#bytes} bytes, not ${bytes}.`);
    }
    // The session may begin in the middle of a base, but its own history has to be the whole file.
    if (role !== "base" && this.#stored.length > bytes) throw this.#differs();
  }

  #differs(): DaemonError {
    return new DaemonError(
      "unprocessable",
      `The rollout ${this.#line.id} differs from the one that this daemon has. Import the session elsewhere.`,
    );
  }
}
