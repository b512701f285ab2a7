import type { DaemonTransaction } from "../database/ownership.ts";
import { DaemonError } from "../errors.ts";
import type { RolloutStore } from "../rollouts/rollout-store.ts";
import type { LineOf } from "./session-file.ts";

/** Epoch of the stored bytes. No owner has written them. */
const NO_EPOCH = 0;
const NEWLINE = 10;
/** The byte that an export writes in place of each byte of a secret. */
const ASTERISK = 42;
/**
 * Codex returns the items of a line in one response, in which they can be twice as long. A response larger than 128 MiB
 * would close the connection of all sessions.
 */
const LINE_BYTES = 64 * 1024 * 1024;

/**
 * Stores one rollout file of an imported session. If the store already has the file, because two sessions share a
 * history, the bytes must be identical, except for secrets that an export has masked.
 */
export class RolloutImport {
  readonly #rollouts: RolloutStore;
  readonly #sessionId: string;
  readonly #line: LineOf<"rollout">;
  readonly #stored: Uint8Array;
  #bytes = 0;
  /** Number of bytes since the last line break. */
  #lineBytes = 0;

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
    // An existing file belongs to another session, so nothing is appended to it.
    if (this.#stored.length > 0 && !isSameExceptMasks(data, known)) throw this.#differs();
    this.#checkLines(data);
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
    // The session may start in the middle of a base, but its own rollout has to be complete.
    if (role !== "base" && this.#stored.length > bytes) throw this.#differs();
  }

  #checkLines(data: Buffer): void {
    let start = 0;
    for (let end = data.indexOf(NEWLINE); end >= 0; end = data.indexOf(NEWLINE, start)) {
      this.#checkLine(end - start);
      this.#lineBytes = 0;
      start = end + 1;
    }
    this.#checkLine(data.length - start);
  }

  #checkLine(bytes: number): void {
    this.#lineBytes += bytes;
    if (this.#lineBytes <= LINE_BYTES) return;
    throw new DaemonError(
      "unprocessable",
      `The rollout ${this.#line.id} has a line with more than ${LINE_BYTES} bytes, which Codex can't load.`,
    );
  }

  #differs(): DaemonError {
    return new DaemonError(
      "unprocessable",
      `The rollout ${this.#line.id} differs from the one in this daemon's store. Import the session into another daemon.`,
    );
  }
}

function isSameExceptMasks(data: Buffer, known: Uint8Array): boolean {
  if (data.equals(known)) return true;
  if (data.length !== known.length) return false;
  return data.every((byte, at) => byte === known[at] || byte === ASTERISK || known[at] === ASTERISK);
}
