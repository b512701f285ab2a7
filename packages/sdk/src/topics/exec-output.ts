import { Feed } from "./feed.ts";

/** A piece of what a process printed, in the order in which it came. */
export interface ExecOutput {
  readonly stream: "stdout" | "stderr";
  readonly bytes: Uint8Array;
  /** The last piece of its stream, because `outputBytesCap` was reached. */
  readonly capReached: boolean;
  /** How many bytes before this piece were dropped, because nobody read them. */
  readonly omittedBytes?: number;
}

/** How many bytes of one process may wait for a reader; then the oldest go, and the next piece says how many. */
const UNREAD_BYTES_LIMIT = 64 * 1024 * 1024;

/** Pieces of less are joined while they wait: a terminal sends a few bytes at a time. */
const JOIN_BYTES = 64 * 1024;

/** What a process printed and nobody has read yet. */
export class ExecOutputQueue implements AsyncIterable<ExecOutput> {
  readonly #limit: number;
  readonly #wakes = new Feed<true>({ merge: () => true });
  #pieces: ExecOutput[] = [];
  #unreadBytes = 0;
  #omittedBytes = 0;

  constructor(limit = UNREAD_BYTES_LIMIT) {
    this.#limit = limit;
  }

  push(piece: ExecOutput): void {
    const last = this.#pieces.at(-1);
    if (last?.stream === piece.stream && last.bytes.length + piece.bytes.length <= JOIN_BYTES) {
      const bytes = Buffer.concat([last.bytes, piece.bytes]);
      this.#pieces[this.#pieces.length - 1] = { ...last, bytes, capReached: piece.capReached };
    } else {
      this.#pieces.push(piece);
    }
    this.#unreadBytes += piece.bytes.length;
    while (this.#unreadBytes > this.#limit && this.#pieces.length > 1) {
      const dropped = this.#pieces.shift()?.bytes.length ?? 0;
      this.#unreadBytes -= dropped;
      this.#omittedBytes += dropped;
    }
    this.#wakes.push(true);
  }

  end(error?: Error): void {
    this.#wakes.end(error);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ExecOutput, void, undefined> {
    // A reader that left and came back finds what it left: its wake is spent.
    yield* this.#drain();
    for await (const wake of this.#wakes) if (wake) yield* this.#drain();
  }

  *#drain(): Generator<ExecOutput, void, undefined> {
    for (let piece = this.#take(); piece !== undefined; piece = this.#take()) yield piece;
  }

  #take(): ExecOutput | undefined {
    const piece = this.#pieces.shift();
    if (piece === undefined) return undefined;
    this.#unreadBytes -= piece.bytes.length;
    const omittedBytes = this.#omittedBytes;
    this.#omittedBytes = 0;
    return omittedBytes === 0 ? piece : { ...piece, omittedBytes };
  }
}
