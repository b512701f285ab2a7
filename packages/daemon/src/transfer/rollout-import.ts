import { z } from "zod";
import type { DaemonTransaction } from "../database/ownership.ts";
import { DaemonError } from "../errors.ts";
import type { RolloutStore } from "../rollouts/rollout-store.ts";
import { parseJson } from "./parse-json.ts";
import type { LineOf } from "./session-file.ts";

/** Epoch of the stored bytes. No owner has written them. */
const NO_EPOCH = 0;
const NEWLINE = 10;
/** The byte that an export writes in place of each byte of a secret. */
const ASTERISK = 42;
const OPENING_BRACE = 123;
/**
 * Codex returns the items of a line in one response, in which they can be twice as long. A response larger than 128 MiB
 * would close the connection of all sessions.
 */
const LINE_BYTES = 64 * 1024 * 1024;
/** A rollout's own ID follows the time in its name. */
const FILE_NAME = /\/rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-([\w-]+)\.jsonl$/;

/** The first line of a rollout, if it continues another one. */
const firstLine = z.looseObject({
  payload: z
    .looseObject({ history_base: z.looseObject({ thread_id: z.string() }).nullish().catch(null) })
    .optional()
    .catch(undefined),
});

/**
 * Stores one rollout file of an imported session. If the store already has the file, because two sessions share a
 * history, the bytes must be identical. Otherwise, a file could get the thread of another session by naming its ID.
 */
export class RolloutImport {
  readonly #rollouts: RolloutStore;
  readonly #sessionId: string;
  readonly #line: LineOf<"rollout">;
  /** Undefined if the store does not have the file. */
  readonly #stored: Uint8Array | undefined;
  #bytes = 0;
  /** Number of bytes since the last line break. */
  #lineBytes = 0;
  /** Parts of the first line. Undefined once it was checked. */
  #firstLine: Buffer[] | undefined = [];

  private constructor(
    rollouts: RolloutStore,
    sessionId: string,
    line: LineOf<"rollout">,
    stored: Uint8Array | undefined,
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
    const { id, path, baseId, role } = line;
    if (FILE_NAME.exec(path)?.[1] !== id) throw refused(`The rollout ${id} has the path of another one.`);
    if (role !== "base" && (await rollouts.isOwned(trx, id))) {
      throw refused(`The rollout ${id} belongs to another session of this daemon.`);
    }
    const row = await trx.selectFrom("rollout").select("base_id").where("id", "=", id).executeTakeFirst();
    const stored = row && ((await rollouts.readIn(trx, id)) ?? new Uint8Array());
    const started = new RolloutImport(rollouts, sessionId, line, stored);
    // The store would keep its own base, whose content the file may not have.
    if (row && row.base_id !== baseId) throw started.#differs();
    return started;
  }

  async add(trx: DaemonTransaction, data: Buffer): Promise<void> {
    const known = this.#stored?.subarray(this.#bytes, this.#bytes + data.length);
    // An existing file belongs to another session, so nothing is appended to it.
    if (known && !isSame(data, known)) throw this.#differs();
    this.#checkLines(data);
    const { id: rolloutId, path, baseId, role } = this.#line;
    await this.#rollouts.appendWhole(
      trx,
      { sessionId: this.#sessionId, epoch: NO_EPOCH, nodeId: "" },
      { rolloutId, path, ...(baseId !== null && { baseId }), role, atByte: this.#bytes, data },
    );
    this.#bytes += data.length;
    if (!this.#stored) await this.#requireOwn(trx);
  }

  end(): void {
    const { id, bytes } = this.#line;
    if (this.#bytes !== bytes) throw refused(`The rollout ${id} has ${this.#bytes} bytes, not ${bytes}.`);
    if (this.#firstLine) throw refused(`The first line of the rollout ${id} is not complete.`);
    // The session would get the rest of the stored file.
    if (this.#stored && this.#stored.length !== bytes) throw this.#differs();
  }

  /** Rejects if another node has stored the file since `begin`, because its bytes were not compared. */
  async #requireOwn(trx: DaemonTransaction): Promise<void> {
    const other = await trx
      .selectFrom("session_rollout")
      .select("session_id")
      .where("rollout_id", "=", this.#line.id)
      .where("session_id", "<>", this.#sessionId)
      .executeTakeFirst();
    if (other) throw this.#differs();
  }

  #checkLines(data: Buffer): void {
    let start = 0;
    for (let end = data.indexOf(NEWLINE); end >= 0; end = data.indexOf(NEWLINE, start)) {
      this.#checkLine(data.subarray(start, end));
      if (this.#firstLine) this.#checkFirstLine(this.#firstLine);
      this.#lineBytes = 0;
      start = end + 1;
    }
    this.#checkLine(data.subarray(start));
  }

  /**
   * Checks a part of a line. The beginning of an object is enough, because Codex skips a line that it could not write
   * completely.
   */
  #checkLine(part: Buffer): void {
    if (part.length === 0) return;
    const { id } = this.#line;
    if (this.#lineBytes === 0 && part[0] !== OPENING_BRACE) {
      throw refused(`The rollout ${id} has a line that is not a JSON object.`);
    }
    this.#lineBytes += part.length;
    if (this.#lineBytes > LINE_BYTES) {
      throw refused(
        `The rollout ${id} has a line with more than ${LINE_BYTES} bytes, which Codex can't load.`,
      );
    }
    this.#firstLine?.push(part);
  }

  /** Codex can't load a thread without its first line, and reads from it which file the thread continues. */
  #checkFirstLine(parts: readonly Buffer[]): void {
    this.#firstLine = undefined;
    const { id, baseId } = this.#line;
    const { data } = firstLine.safeParse(parseObject(Buffer.concat(parts).toString()));
    if (!data) throw refused(`The first line of the rollout ${id} is not a JSON object.`);
    const base = data.payload?.history_base?.thread_id;
    if (base !== undefined && base !== baseId) {
      throw refused(`The rollout ${id} continues ${base}, but the file names ${baseId ?? "no base"}.`);
    }
  }

  #differs(): DaemonError {
    return refused(
      `The rollout ${this.#line.id} differs from the one in this daemon's store. Import the session into another daemon.`,
    );
  }
}

/** Where an export has masked the stored file, the bytes may differ, because they are not used. */
function isSame(data: Buffer, known: Uint8Array): boolean {
  if (data.equals(known)) return true;
  if (data.length !== known.length) return false;
  return data.every((byte, at) => byte === known[at] || known[at] === ASTERISK);
}

function parseObject(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function refused(message: string): DaemonError {
  return new DaemonError("unprocessable", message);
}
